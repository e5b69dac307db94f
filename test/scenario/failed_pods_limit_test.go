package scenario_test

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	core "github.com/stint-dev/stint/internal/job"
)

func failedPodsLimit(n string) func(*batchv1.Job) { return asks(core.FailedPodsLimit, n) }

// failedPods waits until the Job has exactly n pods that have failed and have no tracking finalizer any more.
func (j *job) failedPods(n int) podList {
	j.Helper()
	return j.podsThat("have failed and have no finalizer", n, func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodFailed && !hasFinalizer(p) && p.DeletionTimestamp == nil
	})
}

// failedPodsLimitScenarios are about failed pods that are deleted before their Job. They stay counted.
var failedPodsLimitScenarios = []scenario{
	{
		name: "failed-pods-limit keeps the newest failed pods, and the count of all",
		play: func(s *scene) {
			j := s.create(aJob(failedPodsLimit("2"), backoff("1")))
			var all podList
			for n := range 4 {
				p := j.active(1)
				p.failBefore(time.Hour-time.Duration(n)*time.Minute, 1)
				j.becomes(failed(int32(n+1)), active(1))
				all = append(all, p...)
			}
			all[:2].gone()
			j.failedPods(2).areThe(all[2:])
			j.active(1).succeed()
			j.becomes(succeeded(1), failed(4), complete())
			j.failedPods(2).areThe(all[2:])
		},
	},
	{
		name: "failed-pods-limit 0 keeps no failed pod of a Job that has ended, and the backoff limit counts them all",
		play: func(s *scene) {
			j := s.create(aJob(failedPodsLimit("0"), backoffLimit(2)))
			for range 3 {
				p := j.active(1)
				p.failLongAgo(1)
				p.gone()
			}
			j.becomes(exactly("failed=3 " + failedPods))
			j.failedPods(0)
		},
	},
	{
		name: "a Job without failed-pods-limit keeps all failed pods",
		play: func(s *scene) {
			j := s.create(aJob())
			for n := range int32(3) {
				j.active(1).failLongAgo(1)
				j.becomes(failed(n+1), active(1))
			}
			j.stays(failed(3))
			j.failedPods(3)
		},
	},
	{
		name: "pods that succeeded are kept, whatever the limit of failed ones",
		play: func(s *scene) {
			j := s.create(aJob(pods(3, 3), failedPodsLimit("0")))
			j.active(3)[:2].succeed()
			j.active(1).failLongAgo(1)
			j.becomes(succeeded(2), failed(1), active(1))
			j.active(1).succeed()
			j.becomes(succeeded(3), failed(1), complete())
			j.failedPods(0)
			j.ended(3)
		},
	},
	{
		name:     "delays count failed pods that are gone, also after a restart of the controller",
		restarts: true,
		play: func(s *scene) {
			j := s.create(aJob(failedPodsLimit("1"), backoff("1800"), maxBackoff("20000")))
			for n, ago := range []time.Duration{8000, 7900, 5000} {
				j.active(1).failBefore(ago*time.Second, 1)
				j.becomes(failed(int32(n + 1)))
			}
			j.becomes(active(0)) // until 7200 s are over; after one failure, or two, they would be
			s.stopController()
			s.startController()
			j.stays(failed(3), active(0))
			j.update(maxBackoff("4000"))
			j.active(1).failBefore(4500*time.Second, 1)
			j.becomes(failed(4), active(1))
			j.failedPods(1)
		},
	},
	{
		name:     "indexes fail by their own failures although the pods are gone, also after a restart of the controller",
		restarts: true,
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), limitPerIndex(2), failedPodsLimit("0")))
			for n := range 3 {
				p := j.active(2).withIndex(0)
				s.same("count", fmt.Sprint(n), p[0].Annotations[countAnnotation])
				p.failLongAgo(1)
				j.becomes(failed(int32(n + 1)))
				p.gone()
				s.stopController()
				s.startController()
				if n < 2 {
					j.becomes(active(2), failedIndexes(""))
				}
			}
			j.becomes(exactly("active=1 failed=3 failedIndexes=0"))
			j.active(1).succeed()
			j.becomes(exactly("succeeded=1 failed=3 completed=1 failedIndexes=0 " + failedByIndexes))
			j.failedPods(0)
		},
	},
	{
		name: "failed-pods-limit can be set while the Job runs, and taken away",
		play: func(s *scene) {
			j := s.create(aJob(backoffLimit(10)))
			for n := range int32(3) {
				j.active(1).failLongAgo(1)
				j.becomes(failed(n+1), active(1))
			}
			j.failedPods(3)
			j.update(failedPodsLimit("1"))
			j.active(1).failLongAgo(1)
			j.becomes(failed(4), active(1)) // the new pod is the first with a backoff record
			j.failedPods(1)
			j.update(func(o *batchv1.Job) { delete(o.Annotations, core.FailedPodsLimit) })
			j.active(1).failLongAgo(1)
			j.becomes(failed(5), active(1))
			j.stays(failed(5), active(1))
			j.failedPods(2)
		},
	},
	{
		name:     "the limit holds for a Job that ended while the controller was away",
		restarts: true,
		play: func(s *scene) {
			j := s.create(aJob(pods(3, 3), failedPodsLimit("1"), backoffLimit(0)))
			all := j.active(3).run()
			s.stopController()
			for n := range all {
				all[n:n+1].failBefore(time.Hour-time.Duration(n)*time.Minute, 1)
			}
			s.startController()
			j.becomes(exactly("failed=3 " + failedPods))
			j.failedPods(1).areThe(all[2:])
		},
	},
	{
		name: "the limit holds for the pods that the end of the Job ends",
		play: func(s *scene) {
			j := s.create(aJob(pods(4, 4), failedPodsLimit("0"), backoffLimit(0)))
			all := j.active(4).run()
			all[:1].fail(1)
			j.becomes(willFailBecause(batchv1.JobReasonBackoffLimitExceeded))
			all[1:].fail(143)
			j.becomes(exactly("failed=4 " + failedPods))
			all.gone()
		},
	},
	{
		name: "an ignored failure counts for nothing, and the counts stay right when its pod goes",
		play: func(s *scene) {
			j := s.create(aJob(failedPodsLimit("0"), backoffLimit(1), failurePolicy(onExitCodes(ignore, 13))))
			for range 3 {
				p := j.active(1)
				p.failLongAgo(13)
				p.gone()
			}
			j.becomes(failed(0), active(1))
			j.active(1).failLongAgo(1)
			j.becomes(failed(1), active(1))
			j.active(1).succeed()
			j.becomes(succeeded(1), failed(1), complete())
		},
	},
}
