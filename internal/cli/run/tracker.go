package run

import (
	"maps"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/output"
)

// tracker knows how the Jobs of a run stand, and their pods. What is asked of it and what it is told may come from any
// goroutine.
type tracker struct {
	mu    sync.Mutex
	byUID map[types.UID]*tracked
	// wentAt is when something of this run was last seen to go.
	wentAt time.Time
	// changed gets a value when a Job has changed.
	changed chan struct{}
}

func newTracker() *tracker {
	return &tracker{byUID: map[types.UID]*tracked{}, changed: make(chan struct{}, 1)}
}

// add has a Job be one of the run.
func (r *tracker) add(t *tracked) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byUID[t.job.UID] = t
}

// dropFollowed forgets the Jobs that were there before the run.
func (r *tracker) dropFollowed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.byUID, func(_ types.UID, t *tracked) bool { return t.how == output.Followed })
}

func (r *tracker) wake() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// fate is what has become of an object.
type fate int

const (
	there fate = iota
	// deleted: what is known is how it was then.
	deleted
	// vanished: it was deleted while it was not watched.
	vanished
)

// seen takes in a new state of a Job, of this run or not.
func (r *tracker) seen(job *batchv1.Job, now fate) {
	r.mu.Lock()
	t, ours := r.byUID[job.UID]
	if ours && (now != there || job.Status.Active < t.job.Status.Active) {
		r.wentAt = time.Now()
	}
	if ours && !t.gone {
		t.job, t.gone, t.unseen, t.updated = job, now != there, now == vanished, true
	}
	r.mu.Unlock()
	if ours {
		r.wake()
	}
}

// seenPod takes in a new state of a pod. It reports whether the pod is of this run, and whether it is news that it failed.
func (r *tracker) seenPod(pod *corev1.Pod, gone bool) (ours, failed bool) {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return false, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t, ours := r.byUID[owner.UID]
	if !ours {
		return false, false
	}
	t.waits.observe(pod, gone)
	if gone {
		r.wentAt = time.Now()
	}
	// What an interrupt ends has not failed.
	stopped := t.stopping && pod.DeletionTimestamp != nil
	if stopped || pod.Status.Phase != corev1.PodFailed || t.failedPods[pod.UID] {
		return true, false
	}
	t.failedPods[pod.UID] = true
	t.failure = podFailure(t.ref, pod).Phrase()
	return true, true
}

// lastWent is when something of this run was last seen to go.
func (r *tracker) lastWent() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wentAt
}

// unended are the Jobs that have not ended.
func (r *tracker) unended() []*batchv1.Job {
	return r.jobs(func(t *tracked) bool { return !t.isOver() })
}

// all are the Jobs of the run.
func (r *tracker) all() []*batchv1.Job {
	return r.jobs(func(*tracked) bool { return true })
}

func (r *tracker) jobs(which func(*tracked) bool) []*batchv1.Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	var jobs []*batchv1.Job
	for _, t := range r.byUID {
		if which(t) {
			jobs = append(jobs, t.job)
		}
	}
	return jobs
}

// fewEnough pods are watched while they wait and run, too, for a run that shows no logs of them.
const fewEnough = 1000

// fewPods reports whether the Jobs of this run want few pods.
func (r *tracker) fewPods() bool {
	var pods int64
	for _, job := range r.all() {
		pods += int64(max(ptr.Deref(job.Spec.Parallelism, 1), ptr.Deref(job.Spec.Completions, 1)))
	}
	return pods <= fewEnough
}

// news returns what has changed since it was last asked, and the Jobs that have ended since.
func (r *tracker) news(now time.Time) (tell []output.Progress, ended []ending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.byUID {
		if !t.updated || t.ended {
			continue
		}
		t.updated = false
		tell = append(tell, t.progress(now))
		if t.isOver() {
			t.ended = true
			ended = append(ended, t.end())
		}
	}
	return tell, ended
}

// progress tells how all Jobs stand that have not ended.
func (r *tracker) progress(now time.Time) (tell []output.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.byUID {
		if !t.ended {
			tell = append(tell, t.progress(now))
		}
	}
	return tell
}

// conclude notes how a Job has ended, once the user knows.
func (r *tracker) conclude(job types.UID, outcome output.Outcome) {
	r.mu.Lock()
	if t := r.byUID[job]; t != nil {
		t.outcome = outcome
	}
	r.mu.Unlock()
	r.wake()
}

// settled reports whether the run is over: every Job has ended and been told of; after an interrupt those that had not
// ended must be gone.
func (r *tracker) settled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.byUID {
		if t.stopping && !t.gone || t.outcome == "" {
			return false
		}
	}
	return true
}

// completed reports whether every Job has.
func (r *tracker) completed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.byUID {
		if t.outcome != output.Complete {
			return false
		}
	}
	return true
}

// stop marks the Jobs that have not ended as those that the run has deleted, and returns them.
func (r *tracker) stop() []*batchv1.Job {
	return r.jobs(func(t *tracked) bool {
		t.stopping = !t.isOver()
		return t.stopping
	})
}

// stopping are the Jobs that the run has deleted and that have not ended.
func (r *tracker) stopping() []*batchv1.Job {
	return r.jobs(func(t *tracked) bool { return t.stopping && !t.isOver() })
}

// isStopping reports whether the run has deleted a Job.
func (r *tracker) isStopping(job types.UID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.byUID[job]
	return t != nil && t.stopping
}
