package explain

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

// waitingPods are the active pods that do not run.
type waitingPods struct {
	// waiting are groups of pods with a reason that needs attention, starting are groups of pods that are being
	// started, as far as their status says. The largest group is first.
	waiting, starting []*podGroup
	// active is the number of pods that run or wait.
	active int
}

func newWaitingPods(a *job.Assessment, about Circumstances, needsAreMissing bool) waitingPods {
	w := waitingPods{active: len(a.Active)}
	for _, g := range groupPods(a.Active) {
		g.remedy = g.chooseRemedy(about.TimesAssumed, needsAreMissing)
		for _, p := range g.pods {
			g.startBy = earlier(g.startBy, a.StartBy[p.UID])
		}
		g.onFullDisk = about.onFullDisk(g.pods)
		if isRoutine(g.reason, g.message) {
			g.useLastWarning(about.Events)
			w.starting = append(w.starting, g)
		} else {
			w.waiting = append(w.waiting, g)
		}
	}
	return w
}

func (w waitingPods) areWaiting() bool { return len(w.waiting) > 0 }

func (w waitingPods) since() *metav1.Time {
	first := time.Time{}
	for _, g := range w.waiting {
		first = earlier(first, g.since)
	}
	return timeOrNil(first)
}

func (w waitingPods) summary() string {
	reason := w.waiting[0].reason
	if w.active > 1 {
		return fmt.Sprintf("none of its %s runs: %s", counted(w.active, "pod"), reason)
	}
	return "its pod does not run: " + reason
}

func (w waitingPods) groups() []*podGroup { return slices.Concat(w.waiting, w.starting) }

func (w waitingPods) waits() []stintv1.JobWait {
	var list []stintv1.JobWait
	for _, g := range w.groups() {
		list = append(list, g.wait())
	}
	return list
}

// steps says when pods are failed because of the pending timeout.
func (w waitingPods) steps() []stintv1.JobStep {
	var steps []stintv1.JobStep
	for _, g := range w.groups() {
		if !g.startBy.IsZero() {
			steps = append(steps, stepAt(g.startBy, "fails pod %s for not starting in time (%s)", g.pods[0].Name, job.PendingTimeoutSeconds)...)
		}
	}
	return steps
}

// remedyIfStuck returns what must change for any pod of the Job to run, if only a user can change it; empty otherwise.
func (w waitingPods) remedyIfStuck() string {
	needed, stuck := "", 0
	for _, g := range w.groups() {
		text := g.remedy
		if text == "" || !g.startBy.IsZero() {
			return "" // its pods may still start, or will be replaced
		}
		if needed != "" && needed != text {
			text = "the causes that keep its pods from starting are fixed"
		}
		needed, stuck = text, stuck+len(g.pods)
	}
	if stuck < w.active {
		return ""
	}
	return needed
}

// groupPods groups the pods that do not run by what they wait for, the largest group first.
func groupPods(pods []*corev1.Pod) []*podGroup {
	var groups []*podGroup
	for _, p := range pods {
		if runs(p) {
			continue
		}
		reason, message := waitingReason(p)
		i := slices.IndexFunc(groups, func(g *podGroup) bool { return g.reason == reason })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &podGroup{reason: reason, message: message, unplaced: p.Spec.NodeName == ""})
		}
		groups[i].pods = append(groups[i].pods, p)
		groups[i].since = earlier(groups[i].since, waitingSince(p))
	}
	slices.SortStableFunc(groups, func(a, b *podGroup) int {
		return cmp.Or(cmp.Compare(len(b.pods), len(a.pods)), cmp.Compare(a.reason, b.reason))
	})
	return groups
}
