package scenario_test

import (
	"errors"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	core "github.com/stint-dev/stint/internal/job"
)

const invalidAnnotation = "InvalidAnnotation"

// refuses creates a Job with an annotation that cannot be followed, and checks that Stint's own API server refuses it
// and names the field. Other API servers accept it; then the Job is returned.
func (s *scene) refuses(annotation string, options ...func(*batchv1.Job)) *job {
	s.Helper()
	if s.column.name != onServer {
		return s.create(aJob(options...))
	}
	_, err := s.api.BatchV1().Jobs(s.namespace).Create(s.Context(), aJob(options...), metav1.CreateOptions{})
	s.namesField(annotation, err)
	return nil
}

func (s *scene) namesField(annotation string, err error) {
	s.Helper()
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || !slices.ContainsFunc(status.Status().Details.Causes,
		func(c metav1.StatusCause) bool {
			return c.Field == "metadata.annotations["+annotation+"]" && c.Message != ""
		}) {
		s.Errorf("the error should be about %s: %v", annotation, err)
	}
}

// warns waits until an event of the Job warns about an annotation.
func (j *job) warns(annotation string) {
	j.Helper()
	j.eventually(func(h *history) string {
		for _, e := range h.events(j.uid) {
			if e.Type == "Warning" && e.Reason == invalidAnnotation && strings.Contains(e.Message, annotation) {
				return ""
			}
		}
		return "a warning about " + annotation
	})
}

// annotationScenarios are about annotations that cannot be followed.
var annotationScenarios = []scenario{
	{
		name: "a bad value is refused, or named in an event, and the default holds",
		play: func(s *scene) {
			if j := s.refuses(core.BackoffSeconds, backoff("soon"), failedPodsLimit("0")); j != nil {
				j.warns(core.BackoffSeconds)
				p := j.active(1)
				p.fail(1)
				next := j.active(1)
				next.madeAfter(p, s.column.backoff)
				p.gone() // the Job's other annotations hold
				next.succeed()
				j.becomes(failed(1), complete())
			}
		},
	},
	{
		name: "a bad limit keeps all failed pods, a bad timeout lets pods wait",
		play: func(s *scene) {
			if j := s.refuses(core.FailedPodsLimit, failedPodsLimit("-1"), pendingTimeoutSeconds("0")); j != nil {
				j.warns(core.FailedPodsLimit)
				j.warns(core.PendingTimeoutSeconds)
				j.active(1).failLongAgo(1)
				j.becomes(failed(1), active(1))
				j.active(1).wait("ImagePullBackOff", "none")
				j.stays(failed(1), active(1))
				j.failedPods(1)
			}
		},
	},
	{
		name: "Jobs that wait for each other are refused, or fail and name each other",
		play: func(s *scene) {
			a := s.createNamed("a", dependsOn("b"))
			b := s.createNamed("b", dependsOn("c"))
			b.becomes(awaits("c", "NotFound"))
			c := s.refuses(core.DependsOn, named("c"), dependsOn("a"))
			if c == nil {
				a.stays(awaits("b", "Waiting"), active(0))
				return
			}
			for _, j := range []*job{a, b, c} {
				j.becomes(failedBecause(core.DependencyFailed), active(0))
			}
		},
	},
	{
		name: "a Job that waits for itself is refused, or fails",
		play: func(s *scene) {
			if j := s.refuses(core.DependsOn, dependsOn("job")); j != nil {
				j.becomes(failedBecause(core.DependencyFailed), active(0))
			}
		},
	},
	{
		name: "a change that closes a circle is refused, or fails the Jobs",
		play: func(s *scene) {
			a := s.createNamed("a", dependsOn("b"))
			b := s.createNamed("b", dependsOn("c"))
			b.becomes(awaits("c", "NotFound"))
			a.becomes(awaits("b", "Waiting"))
			if s.column.name == onServer {
				now := b.now().DeepCopy()
				dependsOn("a")(now)
				_, err := s.api.BatchV1().Jobs(s.namespace).Update(s.Context(), now, metav1.UpdateOptions{})
				s.namesField(core.DependsOn, err)
				return
			}
			b.update(dependsOn("a"))
			a.becomes(failedBecause(core.DependencyFailed))
			b.becomes(failedBecause(core.DependencyFailed))
		},
	},
}
