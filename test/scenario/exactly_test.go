package scenario_test

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// exactly compares the whole status, in words. What is zero or empty is left out:
//
//	active=2 ready=1 terminating=1 succeeded=3 failed=1 completed=0-2 failedIndexes=3 uncounted=1 Type(Reason) !Type(Reason) unstarted
//
// A condition with an exclamation mark is false. failedIndexes that are set but empty read "failedIndexes=".
func exactly(want string) check {
	return func(j *batchv1.Job) string {
		if got := inWords(j.Status); got != want {
			return fmt.Sprintf("exactly\n\t%s\nnot\n\t%s", want, got)
		}
		return ""
	}
}

func inWords(s batchv1.JobStatus) string {
	var words []string
	number := func(what string, n int) {
		if n != 0 {
			words = append(words, fmt.Sprintf("%s=%d", what, n))
		}
	}
	number("active", int(s.Active))
	number("ready", int(ptr.Deref(s.Ready, -1)))
	number("terminating", int(ptr.Deref(s.Terminating, -1)))
	number("succeeded", int(s.Succeeded))
	number("failed", int(s.Failed))
	if s.CompletedIndexes != "" {
		words = append(words, "completed="+s.CompletedIndexes)
	}
	if s.FailedIndexes != nil {
		words = append(words, "failedIndexes="+*s.FailedIndexes)
	}
	if u := s.UncountedTerminatedPods; u != nil {
		number("uncounted", len(u.Succeeded)+len(u.Failed))
	}
	for _, c := range s.Conditions {
		mark := ""
		if c.Status != corev1.ConditionTrue {
			mark = "!"
		}
		words = append(words, fmt.Sprintf("%s%s(%s)", mark, c.Type, c.Reason))
	}
	if s.StartTime == nil {
		words = append(words, "unstarted")
	}
	return strings.Join(words, " ")
}

// How Jobs end, in these words.
const (
	allDone         = "SuccessCriteriaMet(CompletionsReached) Complete(CompletionsReached)"
	policyMet       = "SuccessCriteriaMet(SuccessPolicy) Complete(SuccessPolicy)"
	failedPods      = "FailureTarget(BackoffLimitExceeded) Failed(BackoffLimitExceeded)"
	failedByIndexes = "FailureTarget(FailedIndexes) Failed(FailedIndexes)"
	tooManyFailed   = "FailureTarget(MaxFailedIndexesExceeded) Failed(MaxFailedIndexesExceeded)"
	failedByPolicy  = "FailureTarget(PodFailurePolicy) Failed(PodFailurePolicy)"
	pastDeadline    = "FailureTarget(DeadlineExceeded) Failed(DeadlineExceeded)"
)
