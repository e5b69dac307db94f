package run

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/cli/output"
)

const (
	// waitsShown bounds the waiting pods of a Job that are shown at a time.
	waitsShown = 5
	// queuesShown bounds the Jobs whose unscheduled pods are shown while other Jobs of the run have scheduled ones.
	queuesShown = 5
)

// waitingPods are the pods of a Job that wait for something, or did when they ended.
type waitingPods struct {
	pods map[types.UID]*podWait
	// placed are scheduled pods that have not terminated.
	placed map[types.UID]bool
	// arrived are the images that pods have waited for and that have been pulled.
	arrived map[string]bool
	// queued are the reasons of unscheduled pods that have been shown.
	queued map[string]bool
	// more is the number of further waiting pods that was last shown.
	more int
}

type podWait struct {
	name string
	waitReason
	// pulling are the images that the pod waits for on its node.
	pulling []string
	node    string
	// printed are the reasons that have been shown.
	printed map[string]bool
	// listed is set if the pod is shown by name.
	listed bool
	ran    bool
	// over is set if the pod has terminated without having run.
	over bool
}

func newWaits() *waitingPods {
	return &waitingPods{pods: map[types.UID]*podWait{}, placed: map[types.UID]bool{}, arrived: map[string]bool{}, queued: map[string]bool{}}
}

// observe observes a pod.
func (w *waitingPods) observe(pod *corev1.Pod, gone bool) {
	over := gone || isOver(pod)
	if pod.Spec.NodeName != "" && !over {
		w.placed[pod.UID] = true
	} else {
		delete(w.placed, pod.UID)
	}
	p := w.pods[pod.UID]
	if p != nil {
		w.observePulls(p, pod, over)
	}
	if over {
		if p != nil && (p.ran || hasRun(pod) || p.reason == "") {
			delete(w.pods, pod.UID)
		} else if p != nil {
			p.over = true
		}
		return
	}
	found := waitReasonOf(pod)
	if p == nil && found.reason == "" {
		return
	}
	if p == nil {
		p = &podWait{name: pod.Name, printed: map[string]bool{}}
		w.pods[pod.UID] = p
		w.observePulls(p, pod, over)
	}
	p.waitReason, p.ran = found, p.ran || hasRun(pod)
}

// unprinted returns the waits that have not been shown yet, and the number of further waiting pods each time it has doubled. That
// pods are unscheduled is shown once, only with queues, and only if no pod of the Job is scheduled.
func (w *waitingPods) unprinted(queues bool) (waits []*podWait, more int) {
	shown := 0
	var open []*podWait
	for _, p := range w.pods {
		if p.over || p.reason == "" {
			continue
		}
		if p.listed {
			shown++
		}
		if !p.printed[p.reason] {
			open = append(open, p)
		}
	}
	slices.SortFunc(open, byName)
	for _, p := range open {
		switch {
		case p.unplaced:
			if !queues || len(w.placed) > 0 || w.queued[p.reason] {
				continue
			}
			w.queued[p.reason] = true
		case p.listed:
		case shown >= waitsShown:
			more++
			continue
		default:
			p.listed = true
			shown++
		}
		p.printed[p.reason] = true
		waits = append(waits, p)
	}
	if more == 0 || more < 2*w.more {
		return waits, 0
	}
	w.more = more
	return waits, more
}

// neverRan returns some pods that never ran, scheduled ones first, and counts the others.
func (w *waitingPods) neverRan(job output.Job) (some []output.PodWait, more int) {
	idle := slices.DeleteFunc(slices.SortedFunc(maps.Values(w.pods), byPlace), func(p *podWait) bool {
		return p.ran || p.reason == ""
	})
	shown := idle[:min(len(idle), waitsShown)]
	for _, p := range shown {
		some = append(some, p.output(job))
	}
	return some, len(idle) - len(shown)
}

func byName(a, b *podWait) int { return cmp.Compare(a.name, b.name) }

func byPlace(a, b *podWait) int {
	if a.unplaced != b.unplaced {
		if b.unplaced {
			return -1
		}
		return 1
	}
	return byName(a, b)
}

func (p *podWait) output(job output.Job) output.PodWait {
	return output.PodWait{Job: job, Pod: p.name, Reason: p.reason, Message: p.message}
}

// waits returns the unprinted waits of all Jobs, sorted by Job.
func (r *tracker) waits() (waits []output.PodWait, more []moreWait) {
	r.mu.Lock()
	defer r.mu.Unlock()
	placed, queues := 0, 0
	for _, t := range r.byUID {
		placed += len(t.waitingPods.placed)
		queues += min(1, len(t.waitingPods.queued))
	}
	byJob := slices.SortedFunc(maps.Values(r.byUID), func(a, b *trackedJob) int {
		return cmp.Or(cmp.Compare(a.ref.Namespace, b.ref.Namespace), cmp.Compare(a.ref.Name, b.ref.Name))
	})
	for _, t := range byJob {
		if t.ended || len(t.waitingPods.pods) == 0 {
			continue
		}
		before := len(t.waitingPods.queued)
		waiting, others := t.waitingPods.unprinted(placed == 0 || queues < queuesShown)
		if before == 0 && len(t.waitingPods.queued) > 0 {
			queues++
		}
		for _, p := range waiting {
			waits = append(waits, p.output(t.ref))
		}
		if others > 0 {
			more = append(more, moreWait{t.ref, others})
		}
	}
	return waits, more
}

// moreWait is how many further pods of a Job wait.
type moreWait struct {
	job  output.Job
	pods int
}
