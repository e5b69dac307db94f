package scenario_test

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	countAnnotation        = batchv1.JobIndexFailureCountAnnotation
	ignoredCountAnnotation = batchv1.JobIndexIgnoredFailureCountAnnotation
)

func limitPerIndex(n int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex = &n }
}

func maxFailedIndexes(n int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.MaxFailedIndexes = &n }
}

// perIndexScenarios are about indexes that fail one by one.
var perIndexScenarios = []scenario{
	{
		name: "each index has a limit of its own, and its pods carry the count of failures",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), limitPerIndex(2)))
			j.becomes(exactly("active=2 failedIndexes="))
			for n, count := range []string{"0", "1", "2"} {
				p := j.active(2).withIndex(0)
				s.same("failures of index 0", count, p[0].Annotations[countAnnotation])
				s.same("failures of index 1", "0", j.active(2).withIndex(1)[0].Annotations[countAnnotation])
				p.failLongAgo(1)
				j.becomes(failed(int32(n + 1)))
			}
			j.becomes(exactly("active=1 failed=3 failedIndexes=0"))
			j.active(1).succeed()
			j.becomes(exactly("succeeded=1 failed=3 completed=1 failedIndexes=0 "+failedByIndexes), says(batchv1.JobFailed, "Job has failed indexes"))
			j.tells("SuccessfulCreate", "FailedIndexes: Job has failed indexes")
		},
	},
	{
		name: "without a limit per index there is no count on the pods",
		play: func(s *scene) {
			j := s.create(aJob(indexed(1, 1)))
			j.active(1).failLongAgo(1)
			j.becomes(active(1), failed(1), failedIndexes("-"))
			_, there := j.active(1)[0].Annotations[countAnnotation]
			s.same("count", false, there)
		},
	},
	{
		name: "the next index starts at once when one has failed for good",
		play: func(s *scene) {
			j := s.create(aJob(indexed(3, 1), limitPerIndex(0)))
			j.active(1).fail(1)
			j.becomes(exactly("active=1 failed=1 failedIndexes=0"))
			j.active(1).haveIndexes(1)
			j.active(1).succeed()
			j.becomes(exactly("active=1 succeeded=1 failed=1 completed=1 failedIndexes=0"))
			j.active(1).fail(1)
			j.becomes(exactly("succeeded=1 failed=2 completed=1 failedIndexes=0,2 " + failedByIndexes))
		},
	},
	{
		name: "an index that waits for its next pod does not let a higher one pass",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 1), limitPerIndex(1)))
			j.active(1).fail(1)
			j.becomes(exactly("active=1 failed=1 failedIndexes="))
			j.active(1).haveIndexes(0)
		},
	},
	{
		name: "a failed pod is kept uncounted until the next pod of its index is there",
		play: func(s *scene) {
			j := s.create(aJob(indexed(1, 1), limitPerIndex(1)))
			first := j.active(1)
			first.fail(1)
			first.delete()
			j.becomes(exactly("active=1 failed=1 failedIndexes="))
			first.gone()
			next := j.active(1)
			s.same("count", "1", next[0].Annotations[countAnnotation])
			made := s.version("the next pod", next[0], func(change) bool { return true })
			removed := s.version("the finalizer of the first pod to be removed", first[0], func(c change) bool {
				return c.deleted || !hasFinalizer(c.object.(*corev1.Pod))
			})
			s.same("finalizer removed after the next pod was made", true, made < removed)
		},
	},
	{
		name: "the delay of an index survives a restart of the controller",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), limitPerIndex(2)))
			j.active(2).withIndex(0).failLongAgo(1)
			j.becomes(failed(1), active(2))
			s.stopController()
			failed := j.active(2).withIndex(0)
			failed.fail(1)
			s.startController()
			j.becomes(exactly("active=2 failed=2 failedIndexes="))
			next := j.active(2).withIndex(0)
			s.same("count", "2", next[0].Annotations[countAnnotation])
			next.madeAfter(failed, 2*s.column.backoff)
		},
		restarts: true,
	},
	{
		name: "an index waits twice as long after its second failure",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), limitPerIndex(2)))
			first := j.active(2)
			first.withIndex(0).failLongAgo(1)
			j.becomes(failed(1), active(2))
			second := j.active(2)
			second.fail(1)
			j.becomes(exactly("active=2 failed=3 failedIndexes="))
			next := j.active(2)
			next[:1].madeAfter(second[:1], 2*s.column.backoff)
			next[1:].madeAfter(second[1:], s.column.backoff)
		},
	},
	{
		name: "an index that waits long keeps no other waiting",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), limitPerIndex(2)))
			first := j.active(2)
			j.becomes(active(2))
			first[:1].exitAt(time.Now().Add(time.Hour), 1)
			j.becomes(active(1))
			first[1:].fail(1)
			j.becomes(active(1), failed(1))
			next := j.active(1)
			next.haveIndexes(1)
			next.madeAfter(first[1:], s.column.backoff)
		},
	},
	{
		name: "a Job fails with one failed index more than maxFailedIndexes; the pods that it ends fail no index",
		play: func(s *scene) {
			j := s.create(aJob(indexed(4, 4), limitPerIndex(0), maxFailedIndexes(1)))
			j.active(4).run()[3:].fail(1)
			j.becomes(exactly("active=3 ready=3 failed=1 failedIndexes=3"))
			j.active(3)[1:2].fail(1)
			j.becomes(exactly("terminating=2 failed=4 failedIndexes=1,3 FailureTarget(MaxFailedIndexesExceeded)"))
			going := j.terminating(2)
			going[:1].succeed()
			j.becomes(exactly("terminating=1 failed=4 failedIndexes=1,3 FailureTarget(MaxFailedIndexesExceeded)"))
			going[1:].fail(1)
			j.becomes(exactly("failed=4 failedIndexes=1,3 "+tooManyFailed),
				says(batchv1.JobFailed, "Job has exceeded the specified maximal number of failed indexes"))
			j.tells("SuccessfulCreate", "SuccessfulDelete", "MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed indexes")
		},
	},
	{
		name: "backoffLimit holds beside a limit per index",
		play: func(s *scene) {
			j := s.create(aJob(indexed(3, 3), limitPerIndex(1), backoffLimit(1)))
			j.active(3)[:1].failLongAgo(1)
			j.becomes(exactly("active=3 failed=1 failedIndexes="))
			j.active(3)[1:2].failLongAgo(1)
			j.becomes(exactly("failed=4 failedIndexes= " + failedPods))
		},
	},
	{
		name: "FailIndex spends an index at once",
		play: func(s *scene) {
			j := s.create(aJob(indexed(3, 3), limitPerIndex(5), failurePolicy(
				onExitCodes(batchv1.PodFailurePolicyActionFailIndex, 13), onCondition(batchv1.PodFailurePolicyActionFailIndex, corev1.DisruptionTarget, corev1.ConditionTrue))))
			j.active(3)[:1].fail(13)
			j.becomes(exactly("active=2 failed=1 failedIndexes=0"))
			j.active(2)[1:].endsWith(disrupted)
			j.becomes(exactly("active=1 failed=2 failedIndexes=0,2"))
			j.active(1).succeed()
			j.becomes(exactly("succeeded=1 failed=2 completed=1 failedIndexes=0,2 " + failedByIndexes))
		},
	},
	{
		name: "ignored failures of an index are counted apart and spend nothing",
		play: func(s *scene) {
			j := s.create(aJob(indexed(1, 1), limitPerIndex(0), failurePolicy(onExitCodes(batchv1.PodFailurePolicyActionIgnore, 13))))
			for _, ignored := range []string{"", "1", "2"} {
				j.becomes(exactly("active=1 failedIndexes="))
				p := j.active(1)
				s.same("count", "0", p[0].Annotations[countAnnotation])
				s.same("ignored", ignored, p[0].Annotations[ignoredCountAnnotation])
				p.failLongAgo(13)
				p.untracked()
			}
			j.active(1).failLongAgo(1)
			j.becomes(exactly("failed=1 failedIndexes=0 " + failedByIndexes))
		},
	},
	{
		name: "a running pod that is deleted spends its index at once, even if it succeeds on its way out",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), limitPerIndex(0)))
			j.active(2).run()[:1].delete()
			j.becomes(exactly("active=1 ready=1 terminating=1 failed=1 failedIndexes=0"))
			j.terminating(1).succeed()
			j.becomes(exactly("active=1 ready=1 failed=1 failedIndexes=0"))
			j.active(1).succeed()
			j.becomes(exactly("succeeded=1 failed=1 completed=1 failedIndexes=0 " + failedByIndexes))
		},
	},
	{
		name: "with podReplacementPolicy Failed a deleted pod may still complete its index",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), limitPerIndex(0), replacesEnded))
			j.active(2).run()[:1].delete()
			j.becomes(exactly("active=1 ready=1 terminating=1 failedIndexes="))
			j.terminating(1).succeed()
			j.becomes(exactly("active=1 ready=1 succeeded=1 completed=0 failedIndexes="))
		},
	},
}

// version waits for the first write of a pod for which like is true, and returns its version.
func (s *scene) version(what string, p pod, like func(change) bool) (version int64) {
	s.Helper()
	s.eventually(func(h *history) string {
		for _, c := range h.changes {
			if c.object.GetUID() == p.UID && like(c) {
				version = c.version()
				return ""
			}
		}
		return what
	})
	return version
}
