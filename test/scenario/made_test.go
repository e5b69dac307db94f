package scenario_test

import (
	"cmp"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// madeAfter tells that all of the pods were made so long after the end of the others. The API knows whole seconds, so
// the comparison is exact for a whole number of them.
func (l podList) madeAfter(others podList, delay time.Duration) {
	s := l.scene()
	s.Helper()
	for _, before := range others {
		end := s.endOf(before)
		for _, p := range l {
			if earliest := end.Add(delay); p.CreationTimestamp.Time.Before(earliest) {
				s.Errorf("pod %s was made at %s; %s ended at %s, so it should have waited until %s",
					p.Name, p.CreationTimestamp.UTC(), before.Name, end.UTC(), earliest.UTC())
			}
		}
	}
}

// newest is the pod that was made last.
func (l podList) newest() podList {
	last := slices.MaxFunc(l, func(a, b pod) int { return cmp.Compare(a.scene.made(a), b.scene.made(b)) })
	return podList{last}
}

// made is the version of the write that made the pod.
func (s *scene) made(p pod) int64 {
	return s.version("pod "+p.Name+" to be made", p, func(change) bool { return true })
}

// endOf is when the pod's containers are said to have ended.
func (s *scene) endOf(p pod) time.Time {
	s.Helper()
	var end time.Time
	for _, c := range s.history.ordered() {
		now, is := c.object.(*corev1.Pod)
		if is && now.UID == p.UID && len(now.Status.ContainerStatuses) > 0 && now.Status.ContainerStatuses[0].State.Terminated != nil {
			end = now.Status.ContainerStatuses[0].State.Terminated.FinishedAt.Time
		}
	}
	if end.IsZero() {
		s.Fatalf("pod %s has not ended", p.Name)
	}
	return end
}

// madeSoonAfter tells that the pods came after the delay, but not long after it: within twice the delay, three times what
// the slowest marker of the column took to get its pod, and as long as this process ever stood still, which may have been
// when the delay was over and no marker under way. So the bound grows with the load, and with nothing else.
func (l podList) madeSoonAfter(others podList, delay time.Duration) {
	s := l.scene()
	s.Helper()
	l.madeAfter(others, delay)
	s.settle() // there is a marker at least
	allowed := 2*delay + 3*s.column.chronicle.slowestMarker() + s.column.lateness.until(time.Now()) + 3*time.Second
	for _, before := range others {
		latest := s.endOf(before).Add(allowed)
		for _, p := range l {
			if p.CreationTimestamp.After(latest) {
				s.Errorf("pod %s was made at %s, more than %s after the end of %s", p.Name, p.CreationTimestamp.UTC(), allowed, before.Name)
			}
		}
	}
}

// slowestMarker is the longest time that a controller took to make the pod of a marker.
func (c *chronicle) slowestMarker() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	slowest := time.Duration(0)
	for _, h := range c.histories {
		slowest = max(slowest, h.slowestMarker())
	}
	return slowest
}

func (h *history) slowestMarker() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	slowest, created := time.Duration(0), map[types.UID]time.Time{}
	for _, c := range h.changes {
		if j, is := c.object.(*batchv1.Job); is && strings.HasPrefix(j.Name, markerPrefix) {
			created[j.UID] = j.CreationTimestamp.Time
		}
	}
	for _, c := range h.changes {
		p, is := c.object.(*corev1.Pod)
		if ref := metav1.GetControllerOfNoCopy(c.object); is && ref != nil && !created[ref.UID].IsZero() {
			slowest = max(slowest, p.CreationTimestamp.Sub(created[ref.UID]))
		}
	}
	return slowest
}
