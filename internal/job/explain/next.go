package explain

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// step returns a single step whose time is not known.
func step(format string, args ...any) []stintv1.JobStep { return stepAt(time.Time{}, format, args...) }

func stepAt(at time.Time, format string, args ...any) []stintv1.JobStep {
	return []stintv1.JobStep{{What: fmt.Sprintf(format, args...), At: timeOrNil(at)}}
}

// next returns what happens without a change by a user: first the steps whose time is not known, then the others by time.
func (t *topics) next() []stintv1.JobStep {
	steps := t.steps()
	slices.SortStableFunc(steps, func(a, b stintv1.JobStep) int {
		return ptr.Deref(a.At, metav1.Time{}).Compare(ptr.Deref(b.At, metav1.Time{}).Time)
	})
	return steps
}

func (t *topics) steps() []stintv1.JobStep {
	stays := t.end.stays() && !t.deletion.applies()
	switch {
	case t.controller.absent && !stays:
		return step("nothing, until a server runs")
	case t.deletion.applies():
		return step("is gone when its finalizers are")
	case t.end.applies():
		return t.end.step()
	case t.controller.hasUnknownMode():
		return step("nothing, as no controller supports it")
	case t.controller.externalController:
		return step("depends on %s, whose behaviour is not known here", t.controller.name)
	case t.verdict.applies():
		return step("becomes %s", t.verdict.Terminal())
	case t.concurrencyWait.applies():
		return step("starts when the concurrency policy allows it")
	case t.suspension.applies():
		return step("never continues, unless it is resumed")
	case t.dependencies.applies():
		return step("starts when those Jobs have finished as required")
	}
	return slices.Concat(t.nextPods(), t.waitingPods.steps(), t.forecast.steps())
}

// nextPods says which pods are created, replaced or deleted next.
func (t *topics) nextPods() []stintv1.JobStep {
	switch n := t.activePods.Create; {
	case t.refusal.applies():
		return t.refusal.step()
	case n > 0 && t.controller.isUnobserved():
		return step("gets %s as soon as a controller acts on it", counted(n, "pod"))
	case n > 0:
		return step("gets %s", counted(n, "pod"))
	case t.delay.applies():
		return stepAt(t.delay.until, "gets its next pod")
	case t.scaleDown.applies():
		return step("deletes %s", counted(len(t.scaleDown.pods), "pod"))
	case t.terminating.areReplaced():
		return step("replaces pods when they have ended")
	case t.zeroParallelism.applies():
		return step("never gets pods, unless its parallelism is raised from 0")
	case t.activePods.isIdle():
		return step("the controller acts on it")
	}
	return nil
}
