package scenario_test

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// parallelismScenarios are about how many pods run at the same time.
var parallelismScenarios = []scenario{
	{
		name: "parallelism 0 makes no pods until it is raised",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 0)))
			j.becomes(started(), active(0))
			j.stays(active(0), unfinished())
			j.scale(2)
			j.active(2).succeed()
			j.becomes(succeeded(2), complete())
		},
	},
	{
		name: "parallelism lowered to 0 pauses: pods end, and do not count as failed",
		play: func(s *scene) {
			j := s.create(aJob(pods(4, 3), backoffLimit(0)))
			j.active(3).run()[:1].succeed()
			j.becomes(succeeded(1), active(3))
			j.scale(0)
			j.active(0)
			ending := j.podsThat("are ending", 2, func(p *corev1.Pod) bool { return !ended(p) })
			j.becomes(active(0), terminating(2))
			ending.fail(143)
			j.becomes(active(0), terminating(0), failed(0), succeeded(1))
			j.stays(active(0), failed(0), unfinished())
			j.scale(3)
			j.active(3).succeed()
			j.becomes(succeeded(4), failed(0), complete())
			j.tells("SuccessfulCreate", "SuccessfulDelete", "SuccessfulCreate", "Completed")
		},
	},
	{
		name: "parallelism raised while pods run adds the missing ones, and no more than completions need",
		play: func(s *scene) {
			j := s.create(aJob(pods(5, 1)))
			j.active(1).run()
			j.scale(3)
			j.active(3)
			j.scale(100)
			j.active(5)
			j.stays(active(5))
			j.active(5).succeed()
			j.becomes(succeeded(5), complete())
		},
	},
	{
		name: "scaling down takes the pods that lose least: unscheduled, pending, not ready, ready",
		play: func(s *scene) {
			j := s.create(aJob(workers(4)))
			all := j.active(4)
			all[1:2].bind()
			all[2:3].runUnready()
			all[3:4].run()
			j.becomes(ready(1))
			for left := 3; left > 0; left-- {
				j.scale(int32(left))
				j.active(left).areThe(all[4-left:])
				j.becomes(active(int32(left)), failed(0))
			}
			j.becomes(ready(1))
		},
	},
	{
		name: "scaled down and up again while the removed pods take their time, a Job gets new pods",
		play: func(s *scene) {
			j := s.create(aJob(workers(3)))
			j.active(3).run()
			j.scale(1)
			slow := j.terminating(2)
			j.becomes(active(1), terminating(2))
			j.scale(3)
			j.active(3)
			j.becomes(active(3), terminating(2), failed(0))
			slow.fail(143)
			j.becomes(active(3), terminating(0), failed(0))
		},
	},
	{
		name: "scaled down and up again with podReplacementPolicy Failed, a Job waits for the removed pods to end",
		play: func(s *scene) {
			j := s.create(aJob(workers(3), replacesEnded))
			j.active(3).run()
			j.scale(1)
			slow := j.terminating(2)
			j.scale(3)
			j.stays(active(1), terminating(2))
			slow[:1].fail(143)
			j.becomes(active(2), terminating(1))
			slow[1:].fail(143)
			j.becomes(active(3), terminating(0))
			j.active(3)
		},
	},
	{
		name: "an indexed Job that was scaled down and up makes pods for the same indexes again",
		play: func(s *scene) {
			j := s.create(aJob(indexed(5, 4)))
			j.active(4).run()
			j.scale(2)
			j.terminating(2).fail(143)
			j.becomes(active(2), failed(0))
			j.scale(5)
			j.active(5).haveIndexes(0, 1, 2, 3, 4)
			j.active(5).succeed()
			j.becomes(succeeded(5), failed(0), completedIndexes("0-4"), complete())
		},
	},
	{
		name: "a hundred pods are made, and each counts once",
		play: func(s *scene) {
			j := s.create(aJob(pods(100, 100)))
			j.active(100)
			j.stays(active(100), failed(0))
			j.active(100).succeed()
			j.becomes(succeeded(100), failed(0), complete())
			// On a slow machine each pod may be made, listed and counted by itself.
			j.wasWrittenAtMost(3*100+10, 0)
		},
	},
	{
		name: "pods that a quota refuses come when there is room",
		notOn: map[string]string{
			onServer: "it has no ResourceQuota",
		},
		play: func(s *scene) {
			s.quota("3")
			j := s.create(aJob(pods(8, 8)))
			j.active(3)
			j.tellsOf("FailedCreate")
			j.becomes(active(3), failed(0), unfinished())
			s.quota("100")
			j.active(8).succeed()
			j.becomes(succeeded(8), failed(0), complete())
		},
	},
	{
		name: "a pod that a quota refuses keeps others from being tried",
		notOn: map[string]string{
			onServer: "it has no ResourceQuota",
		},
		play: func(s *scene) {
			s.quota("0")
			j := s.create(aJob(pods(200, 200)))
			j.tellsOf("FailedCreate")
			j.becomes(active(0), failed(0), unfinished())
			j.eventually(func(h *history) string {
				tries := int32(0)
				for _, e := range h.events(j.uid) {
					tries += e.Count
				}
				if tries > 20 {
					s.Errorf("%d pods were tried", tries)
				}
				return ""
			})
			s.quota("200")
			j.active(200)
		},
	},
}

// wasWrittenAtMost checks that the Job was written at most n times after a version of it.
func (j *job) wasWrittenAtMost(n int, after int64) {
	j.Helper()
	writes := 0
	for _, c := range j.history.ordered() {
		if c.object.GetUID() == j.uid && c.version() > after {
			writes++
		}
	}
	if writes > n {
		j.Errorf("Job %s was written %d times, more than %d", j.name, writes, n)
	}
}

// storedVersion returns the version that is stored, which may be newer than that in the history.
func (j *job) storedVersion() int64 {
	j.Helper()
	now, err := j.stored.Get(j.Context(), j.name, metav1.GetOptions{})
	j.must(err)
	return version(now)
}

// quota limits the namespace to so many pods. The scenario also writes the quota's status, which no controller does
// here.
func (s *scene) quota(pods string) {
	s.Helper()
	quotas := s.api.CoreV1().ResourceQuotas(s.namespace)
	hard := corev1.ResourceList{corev1.ResourcePods: resource.MustParse(pods)}
	q, err := quotas.Get(s.Context(), "pods", metav1.GetOptions{})
	if ignoreGone(err) != nil {
		s.Fatal(err)
	}
	if err != nil {
		q = &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "pods"}}
		q.Spec.Hard = hard
		q, err = quotas.Create(s.Context(), q, metav1.CreateOptions{})
		s.must(err)
		q.Status.Used = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}
	}
	q.Spec.Hard, q.Status.Hard = hard, hard
	q, err = quotas.Update(s.Context(), q, metav1.UpdateOptions{})
	s.must(err)
	q.Status.Hard = hard
	if len(q.Status.Used) == 0 {
		q.Status.Used = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}
	}
	_, err = quotas.UpdateStatus(s.Context(), q, metav1.UpdateOptions{})
	s.must(err)
}
