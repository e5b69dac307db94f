package scenario_test

import (
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// elasticScenarios are about indexed Jobs whose completions change together with parallelism.
var elasticScenarios = []scenario{
	{
		name: "a larger indexed Job gets the new indexes",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2)))
			j.active(2)[:1].succeed()
			j.becomes(exactly("active=1 succeeded=1 completed=0"))
			j.update(pods(4, 4))
			j.becomes(exactly("active=3 succeeded=1 completed=0"))
			j.active(3).haveIndexes(1, 2, 3)
		},
	},
	{
		name: "a smaller indexed Job loses its highest indexes, however far they have come",
		play: func(s *scene) {
			j := s.create(aJob(indexed(4, 4)))
			j.active(4)[2:].run()
			j.becomes(exactly("active=4 ready=2"))
			j.update(pods(2, 2))
			j.becomes(exactly("active=2 terminating=2"))
			j.active(2).haveIndexes(0, 1)
			going := j.terminating(2)
			going[:1].succeed()
			going[1:].fail(1)
			j.becomes(exactly("active=2"))
			j.active(2).succeed()
			j.becomes(exactly("succeeded=2 completed=0,1 " + allDone))
		},
	},
	{
		name: "an index that was finished, cut off and added again runs again",
		play: func(s *scene) {
			j := s.create(aJob(indexed(3, 3)))
			j.active(3)[2:].succeed()
			j.becomes(exactly("active=2 succeeded=1 completed=2"))
			j.update(pods(2, 2))
			j.becomes(exactly("active=2"))
			j.update(pods(3, 3))
			j.becomes(exactly("active=3"))
			j.active(3).haveIndexes(0, 1, 2)
			j.active(3).succeed()
			j.becomes(exactly("succeeded=3 completed=0-2 " + allDone))
		},
	},
	{
		name: "an indexed Job that shrinks to what has succeeded completes once the other pods have ended",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2)))
			j.active(2).run()[:1].succeed()
			j.becomes(exactly("active=1 ready=1 succeeded=1 completed=0"))
			j.update(pods(1, 1))
			j.becomes(exactly("terminating=1 succeeded=1 completed=0 SuccessCriteriaMet(CompletionsReached)"))
			j.terminating(1).succeed()
			j.becomes(exactly("succeeded=1 completed=0 " + allDone))
		},
	},
	{
		name: "an indexed Job that shrinks to nothing completes",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2)))
			j.active(2)
			j.update(pods(0, 0))
			j.becomes(exactly(allDone))
		},
	},
	{
		name: "a failure counts on when its index is cut off",
		play: func(s *scene) {
			j := s.create(aJob(indexed(3, 3), backoffLimit(1)))
			j.active(3)[2:].fail(1)
			j.becomes(failed(1))
			j.update(pods(2, 2))
			j.becomes(exactly("active=2 failed=1"))
			j.active(2)[:1].fail(1)
			j.becomes(exactly("failed=3 " + failedPods))
		},
	},
	{
		name: "a failed index that is cut off does not fail the Job",
		play: func(s *scene) {
			j := s.create(aJob(indexed(3, 3), limitPerIndex(0)))
			j.active(3)[2:].fail(1)
			j.becomes(exactly("active=2 failed=1 failedIndexes=2"))
			j.update(pods(2, 2))
			j.becomes(exactly("active=2 failed=1 failedIndexes="))
			j.active(2).succeed()
			j.becomes(exactly("succeeded=2 failed=1 completed=0,1 failedIndexes= " + allDone))
		},
	},
	{
		name: "a success policy counts only the indexes that are left",
		play: func(s *scene) {
			j := s.create(aJob(indexed(4, 4), succeedsBy(indexes("0-1"), anyOf(2))))
			j.active(4)[3:].succeed()
			j.becomes(exactly("active=3 succeeded=1 completed=3"))
			j.update(pods(3, 3))
			j.becomes(exactly("active=3"))
			j.active(3)[2:].succeed()
			j.becomes(exactly("active=2 succeeded=1 completed=2"))
			j.active(2)[:1].succeed()
			j.becomes(exactly("succeeded=2 completed=0,2 "+policyMet), says(batchv1.JobComplete, "Matched rules at index 1"))
		},
	},
	{
		name: "an indexed Job does not shrink below the indexes of its success policy",
		play: func(s *scene) {
			j := s.create(aJob(indexed(4, 4), succeedsBy(indexes("0,3"))))
			j.refuses(pods(3, 3), "spec.successPolicy.rules[0].succeededIndexes")
		},
	},
	{
		name: "completions and parallelism of an indexed Job change together or not at all",
		play: func(s *scene) {
			j := s.create(aJob(indexed(4, 4)))
			j.refuses(pods(3, 4), "spec.completions")
			plain := s.create(aJob(named("plain"), pods(4, 4)))
			plain.refuses(pods(3, 3), "spec.completions")
		},
	},
}

// refuses checks that the API server refuses a change, and names what is wrong.
func (j *job) refuses(change func(*batchv1.Job), because ...string) {
	j.Helper()
	_, err := j.try(change)
	j.refused(err, because...)
}

func (j *job) refused(err error, because ...string) {
	j.Helper()
	if err == nil {
		j.Fatalf("Job %s was changed; it should have been refused because of %s", j.name, because)
	}
	for _, text := range because {
		if !strings.Contains(err.Error(), text) {
			j.Errorf("the refusal should name %q:\n%s", text, err)
		}
	}
}

// try changes the stored Job and returns what the API server answers. It retries conflicts.
func (j *job) try(change func(*batchv1.Job)) (*batchv1.Job, error) {
	j.Helper()
	for {
		o, err := j.api.BatchV1().Jobs(j.namespace).Get(j.Context(), j.name, metav1.GetOptions{})
		j.must(err)
		change(o)
		written, err := j.api.BatchV1().Jobs(j.namespace).Update(j.Context(), o, metav1.UpdateOptions{})
		if !apierrors.IsConflict(err) {
			return written, err
		}
	}
}
