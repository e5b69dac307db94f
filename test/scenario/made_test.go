package scenario_test

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// madeAfter checks that all of the pods were made so long after the end of the others. The API knows whole seconds, so
// the comparison is exact for a whole number of them. That they do not come later either is told by scenarios in which
// the delay was over before, and to the second by internal/controller/job/model/delay_test.go.
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
