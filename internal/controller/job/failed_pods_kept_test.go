package job

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	core "github.com/stint-dev/stint/internal/job"
)

func podFailed(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }

// TestARemovedPodIsNotLeft: the informer may lag and show a deleted pod as it was before. If it counted as left, an
// older pod would be deleted in its place.
func TestARemovedPodIsNotLeft(t *testing.T) {
	x := newPodCache(matchesAll, nil)
	x.setLimited(owner, true)
	x.Open(owner)
	x.observePod(owner, version("1", podFailed, core.RemoveFinalizer, func(p *corev1.Pod) { p.UID = "older" }))
	x.observePod(owner, version("1"))
	x.Deleted("p")
	x.observePod(owner, version("2", podFailed, core.RemoveFinalizer))
	if left := x.failed(owner); len(left) != 1 || left[0].UID != "older" {
		t.Errorf("left: %v", left)
	}
	obs := x.observed()
	if len(obs.FailedPods) != 1 || obs.FailedPods[0].UID != "older" || len(obs.Pods) != 0 {
		t.Errorf("a decision sees %v as left, and %v to count", obs.FailedPods, obs.Pods)
	}
}

func TestOfAFinishedJobTheFailedPodsStayThatItLimits(t *testing.T) {
	for name, limited := range map[string]bool{"a limit": true, "no limit": false} {
		t.Run(name, func(t *testing.T) {
			x := newPodCache(matchesAll, nil)
			x.setLimited(owner, limited)
			x.observePod(owner, version("1", podFailed, core.RemoveFinalizer))
			x.observePod(owner, version("1", podFailed, func(p *corev1.Pod) { p.UID = "uncounted" }))
			if held := x.forgetFinished(owner); len(held) != 1 || held[0].UID != "uncounted" {
				t.Errorf("%v have the finalizer", held)
			}
			if left := x.failed(owner); (len(left) == 1) != limited || len(x.pods(owner)) != 0 {
				t.Errorf("left: %v and %v", left, x.pods(owner))
			}
			x.forget(owner)
			if x.Known(owner) || x.setLimited(owner, false) {
				t.Error("something is known of a Job that is gone")
			}
		})
	}
}

func TestFailedPodsAreKeptNoLongerThanTheirJobLimitsThem(t *testing.T) {
	x := newPodCache(matchesAll, nil)
	p := version("1", podFailed, core.RemoveFinalizer)
	for _, limited := range []bool{true, false} {
		if !x.setLimited(owner, limited) || x.setLimited(owner, limited) {
			t.Error("a limit is new once")
		}
		x.observePod(owner, p)
		if x.Known(owner) != limited {
			t.Errorf("with a limit %t it is known: %t", limited, x.Known(owner))
		}
	}
}
