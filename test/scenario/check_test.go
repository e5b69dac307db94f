package scenario_test

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// check returns what is wrong with a Job, or "".
type check = func(*batchv1.Job) string

func failing[T any](o T, checks []func(T) string) string {
	var all []string
	for _, check := range checks {
		if wrong := check(o); wrong != "" {
			all = append(all, wrong)
		}
	}
	return strings.Join(all, ", ")
}

func equal[T comparable](what string, want T, got func(batchv1.JobStatus) T) check {
	return func(j *batchv1.Job) string {
		if g := got(j.Status); g != want {
			return fmt.Sprintf("%s %v, not %v", what, want, g)
		}
		return ""
	}
}

func active(n int32) check {
	return equal("active", n, func(s batchv1.JobStatus) int32 { return s.Active })
}

func ready(n int32) check {
	return equal("ready", n, func(s batchv1.JobStatus) int32 { return ptr.Deref(s.Ready, -1) })
}

func terminating(n int32) check {
	return equal("terminating", n, func(s batchv1.JobStatus) int32 { return ptr.Deref(s.Terminating, -1) })
}

func succeeded(n int32) check {
	return equal("succeeded", n, func(s batchv1.JobStatus) int32 { return s.Succeeded })
}

func failed(n int32) check {
	return equal("failed", n, func(s batchv1.JobStatus) int32 { return s.Failed })
}

func completedIndexes(want string) check {
	return equal("completedIndexes", want, func(s batchv1.JobStatus) string { return s.CompletedIndexes })
}

// failedIndexes compares with "-" where the field is not set.
func failedIndexes(want string) check {
	return equal("failedIndexes", want, func(s batchv1.JobStatus) string { return ptr.Deref(s.FailedIndexes, "-") })
}

func started() check {
	return equal("started", true, func(s batchv1.JobStatus) bool { return s.StartTime != nil })
}

func notStarted() check {
	return equal("started", false, func(s batchv1.JobStatus) bool { return s.StartTime != nil })
}

// is checks that a condition is true, with a reason unless that is empty.
func is(kind batchv1.JobConditionType, reason string) check {
	return func(j *batchv1.Job) string {
		c := condition(j, kind)
		if c == nil || c.Status != corev1.ConditionTrue || (reason != "" && c.Reason != reason) {
			return fmt.Sprintf("condition %s (%s)", kind, reason)
		}
		return ""
	}
}

// isNot checks that a condition is absent or false.
func isNot(kind batchv1.JobConditionType) check {
	return func(j *batchv1.Job) string {
		if c := condition(j, kind); c != nil && c.Status == corev1.ConditionTrue {
			return fmt.Sprintf("not %s", kind)
		}
		return ""
	}
}

// says checks that a condition's message is this one.
func says(kind batchv1.JobConditionType, message string) check {
	return func(j *batchv1.Job) string {
		if c := condition(j, kind); c == nil || c.Message != message {
			return fmt.Sprintf("%s with the message %q, not %+v", kind, message, c)
		}
		return ""
	}
}

// complete checks that the Job has ended well.
func complete() check { return is(batchv1.JobComplete, "") }

// completeBecause checks the reason as well.
func completeBecause(reason string) check { return is(batchv1.JobComplete, reason) }

// failedBecause checks that the Job has failed.
func failedBecause(reason string) check { return is(batchv1.JobFailed, reason) }

// willFailBecause checks that the Job will fail, once its pods have ended.
func willFailBecause(reason string) check { return is(batchv1.JobFailureTarget, reason) }

// willComplete checks that the Job will complete, once its pods have ended.
func willComplete() check { return is(batchv1.JobSuccessCriteriaMet, "") }

// unfinished checks that the Job has not ended.
func unfinished() check {
	return func(j *batchv1.Job) string {
		if finished(j) {
			return "not finished"
		}
		return ""
	}
}

func finished(j *batchv1.Job) bool {
	return isTrue(j, batchv1.JobComplete) || isTrue(j, batchv1.JobFailed)
}

func isTrue(j *batchv1.Job, kind batchv1.JobConditionType) bool {
	c := condition(j, kind)
	return c != nil && c.Status == corev1.ConditionTrue
}

func condition(j *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range j.Status.Conditions {
		if j.Status.Conditions[i].Type == kind {
			return &j.Status.Conditions[i]
		}
	}
	return nil
}
