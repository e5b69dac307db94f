package scenario_test

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// madeAfter checks that all of the pods were made no sooner than delay after the end of the others. Times in the API
// are whole seconds, so the comparison is exact for a whole number of them. That pods come no later either is tested by
// scenarios in which the delay is over already, and to the second by internal/controller/job/model/delay_test.go.
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

// newest returns the pod that was made last.
func (l podList) newest() podList {
	last := slices.MaxFunc(l, func(a, b pod) int { return cmp.Compare(a.scene.made(a), b.scene.made(b)) })
	return podList{last}
}

// made is the version of the write that made the pod.
func (s *scene) made(p pod) int64 {
	return s.version("pod "+p.Name+" to be made", p, func(change) bool { return true })
}

// endOf returns when the pod's containers ended, as its status says.
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
