package explain

import (
	"slices"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

// forecast is how the Job will end if its pods continue as they do now.
type forecast struct {
	*job.Assessment
	paused bool
	// left is how many successes are missing besides those that active pods may bring.
	left int
	// remedyIfStuck is what must change for any pod to run; empty if a pod runs or may still start.
	remedyIfStuck string
}

func (f forecast) steps() []stintv1.JobStep {
	return slices.Concat(f.ofDeadline(), f.ofFailures(), f.ofSuccesses())
}

func (f forecast) ofDeadline() []stintv1.JobStep {
	if f.Deadline.IsZero() {
		return nil
	}
	return stepAt(f.Deadline, "fails, unless it has ended (activeDeadlineSeconds)")
}

// ofFailures says how many more failures fail the Job, if there were some already or one more is enough. It says the same
// of restarts.
func (f forecast) ofFailures() []stintv1.JobStep {
	limit := job.FailureLimit(f.Job)
	if limit == nil {
		return nil
	}
	var steps []stintv1.JobStep
	if n := int(*limit-f.Failed) + 1; f.Failed > 0 || n == 1 && !f.paused {
		steps = step("fails when %s %s", counted(n, "more pod"), verb(n, "fails", "fail"))
	}
	if f.Restarts > 0 {
		steps = append(steps, step("fails when containers have been restarted %s", counted(int(f.RestartLimit-f.Restarts), "more time"))...)
	}
	return steps
}

// ofSuccesses says when the Job ends if its active pods succeed.
func (f forecast) ofSuccesses() []stintv1.JobStep {
	n := len(f.Active) + max(f.left, 0)
	queue := f.Job.Spec.Completions == nil
	switch failed := f.FailedIndexes.Count(); {
	case len(f.Active) == 0:
		return nil
	case f.remedyIfStuck != "":
		return step("is never complete, unless %s", f.remedyIfStuck)
	case f.Job.Spec.SuccessPolicy != nil:
		return step("is complete when its success policy is met")
	case queue && f.Succeeded > 0:
		return step("is complete when all of its pods have ended")
	case queue:
		return step("is complete when all of its pods have ended and one has succeeded")
	case failed > 0:
		return step("fails when %s %s, as %s", counted(n, "more index"), verb(n, "has ended", "have ended"),
			verb(failed, "one has failed", "some have failed"))
	}
	return step("is complete when %s %s", counted(n, "more pod"), verb(n, "succeeds", "succeed"))
}
