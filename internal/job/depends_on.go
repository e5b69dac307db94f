package job

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	// DependsOnCondition is the prefix of the type of a condition about one dependency; the other Job's name follows.
	DependsOnCondition = "depends-on.stint.dev/"
	// DependencyFailed is the reason of a Job that fails because a dependency can no longer be met.
	DependencyFailed = "DependencyFailed"
)

// Dependency is a Job that another one depends on, as observed.
type Dependency struct {
	Name string
	// Job is nil if none of that name exists.
	Job *batchv1.Job
	// Cycle, if not empty, are the names on the way from this Job back to the one that depends on it, both included: each
	// waits for the next.
	Cycle []string
}

// UnmetDependencies returns the dependencies that job must wait for before it starts: those that its status does not show
// as met. A dependency that was met once stays met. A Job that has started has none, even if its annotation changes.
func UnmetDependencies(job *batchv1.Job) []DependencyRule {
	if job.Status.StartTime != nil || isTrue(condition(job.Status.Conditions, batchv1.JobFailureTarget)) {
		return nil
	}
	if _, asks := job.Annotations[DependsOn]; !asks {
		return nil
	}
	asked, _ := ReadAnnotations(job.Annotations, AnnotationsPath)
	return unsatisfied(asked.DependsOn, job.Status.Conditions)
}

// UnmetDependencyNames returns the names of the Jobs that job waits for. A Job that failed because of a cycle still has
// the dependency in that cycle, so that the other Jobs find the cycle too.
func UnmetDependencyNames(job *batchv1.Job) []string {
	var names []string
	for _, d := range UnmetDependencies(job) {
		names = append(names, d.Job)
	}
	for _, c := range job.Status.Conditions {
		if isDependency(c) && c.Reason == stateCycle {
			names = append(names, strings.TrimPrefix(string(c.Type), DependsOnCondition))
		}
	}
	return names
}

func unsatisfied(list []DependencyRule, conditions []batchv1.JobCondition) []DependencyRule {
	return slices.DeleteFunc(slices.Clone(list), func(d DependencyRule) bool {
		return isTrue(condition(conditions, d.condition()))
	})
}

// WaitsForJobs reports whether the status of job says that it waits for other Jobs.
func WaitsForJobs(job *batchv1.Job) bool {
	return job.Status.StartTime == nil && len(UnmetConditions(job)) > 0
}

// UnmetConditions returns the conditions about dependencies that are not met.
func UnmetConditions(job *batchv1.Job) []batchv1.JobCondition {
	return slices.DeleteFunc(slices.Clone(job.Status.Conditions), func(c batchv1.JobCondition) bool {
		return !isDependency(c) || isTrue(&c)
	})
}

func isDependency(c batchv1.JobCondition) bool {
	return strings.HasPrefix(string(c.Type), DependsOnCondition)
}

func (d DependencyRule) condition() batchv1.JobConditionType {
	return batchv1.JobConditionType(DependsOnCondition + d.Job)
}

// String returns the rule in the form of the annotation.
func (d DependencyRule) String() string {
	if d.End == DependsOnComplete {
		return d.Job
	}
	return d.Job + "=" + string(d.End)
}

// observeDependencies sets unmetDependencies. Unlike UnmetDependencies it takes pods into account: a Job that has some
// has started, although its status may not say so yet. But if the status says that the Job waits, they are pods that
// another client created. A Job that waits adopts none.
func (v *view) observeDependencies() {
	s := &v.job.Status
	known := slices.ContainsFunc(s.Conditions, isDependency)
	counted := int(s.Succeeded+s.Failed) + len(v.uncounted.succeeded) + len(v.uncounted.failed)
	if s.StartTime != nil || !known && len(v.owned)+counted > 0 {
		return
	}
	if v.unmetDependencies = unsatisfied(v.annotations.DependsOn, s.Conditions); v.isWaiting() {
		v.adopt = nil
	}
}

// isWaiting reports whether the Job must not have pods yet, as it waits for other Jobs.
func (v *view) isWaiting() bool { return len(v.unmetDependencies) > 0 }

// failedDependency fails a Job with a dependency that can no longer be met.
func failedDependency(v view) *Verdict {
	for _, d := range v.unmetDependencies {
		if s := v.dependencyState(d); s.unsatisfiable {
			return failure(DependencyFailed, s.message)
		}
	}
	return nil
}

// updateDependencyConditions updates the conditions about the Jobs that this one waits for:
//
//	the other Job               required end     condition
//	is missing or not finished  any              False, with its state as the reason
//	completed                   not Failed       True, for good
//	failed                      not Complete     True, for good
//	completed, failed           the opposite     False, and this Job fails
//	waits for this one          any              False, and this Job fails
func (s *statusDraft) updateDependencyConditions(v view, end *Verdict) {
	if v.job.Status.StartTime != nil || v.job.DeletionTimestamp != nil || end != nil && end.Stored {
		return
	}
	s.status.Conditions = slices.DeleteFunc(s.status.Conditions, func(c batchv1.JobCondition) bool {
		return isDependency(c) && !slices.ContainsFunc(v.annotations.DependsOn, func(d DependencyRule) bool { return d.condition() == c.Type })
	})
	if !v.isWaiting() {
		return
	}
	for _, d := range v.unmetDependencies {
		s.setDependency(d, v.dependencyState(d))
	}
	left := unsatisfied(v.unmetDependencies, s.status.Conditions)
	switch {
	case end != nil:
	case len(left) == 0:
		s.satisfied = true
		s.event(corev1.EventTypeNormal, "DependenciesMet", "All Jobs that it depends on have ended as required")
	case !slices.ContainsFunc(v.job.Status.Conditions, isDependency):
		s.event(corev1.EventTypeNormal, "WaitingForJobs", "Waiting for "+strings.Join(entries(left), ", "))
	}
}

// setDependency updates the condition about d. Its transition time changes only with its status.
func (s *statusDraft) setDependency(d DependencyRule, now dependencyState) {
	status := corev1.ConditionFalse
	if now.satisfied {
		status = corev1.ConditionTrue
	}
	old := condition(s.status.Conditions, d.condition())
	switch {
	case old == nil || old.Status != status:
		s.set(d.condition(), status, now.reason, now.message)
	case old.Reason != now.reason || old.Message != now.message:
		old.Reason, old.Message, old.LastProbeTime = now.reason, now.message, s.now
	}
}

// entries returns the rules in the form of the annotation.
func entries(list []DependencyRule) []string {
	texts := make([]string, 0, len(list))
	for _, d := range list {
		texts = append(texts, d.String())
	}
	return texts
}
