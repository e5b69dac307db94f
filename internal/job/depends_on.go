package job

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	// DependsOnCondition begins the type of a condition that tells of one dependency; the Job's name follows.
	DependsOnCondition = "depends-on.stint.dev/"
	// DependencyFailed is why a Job fails that waits for what cannot come any more.
	DependencyFailed = "DependencyFailed"
)

// Dependency is a Job that another one depends on, as it is now.
type Dependency struct {
	Name string
	// Job is nil where there is none of that name.
	Job *batchv1.Job
	// Cycle, if any, leads from the dependency back to the Job that depends on it: the names in between, both included.
	Cycle []string
}

// UnmetDependencies returns what job must wait for before it starts: the dependencies that its status does not show to be met. A
// dependency that was met once stays so, and one that is asked for after the start comes too late.
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

// UnmetDependencyNames returns the names of the Jobs that job waits for. A Job that has failed since it was in a cycle goes on to
// be part of that, so that the others find it too.
func UnmetDependencyNames(job *batchv1.Job) []string {
	var names []string
	for _, d := range UnmetDependencies(job) {
		names = append(names, d.Job)
	}
	for _, c := range job.Status.Conditions {
		if isDependency(c) && c.Reason == cycle {
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

// UnmetConditions are those that tell of dependencies that are not met.
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

// String is the entry as the annotation has it.
func (d DependencyRule) String() string {
	if d.End == DependsOnComplete {
		return d.Job
	}
	return d.Job + "=" + string(d.End)
}

// observeDependencies finds what is Awaited, but for what only pods tell: a Job that has some has started, though its
// status may not say so yet. Of a Job that is known to wait they are somebody else's work.
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

// isWaiting tells that the Job must not have pods yet.
func (v *view) isWaiting() bool { return len(v.unmetDependencies) > 0 }

// failedDependency fails a Job that waits for what cannot come any more.
func failedDependency(v view) *Verdict {
	for _, d := range v.unmetDependencies {
		if s := v.dependencyState(d); s.unsatisfiable {
			return failure(DependencyFailed, s.message)
		}
	}
	return nil
}

// updateDependencyConditions brings the conditions in line with the Jobs that this one waits for:
//
//	the other Job               asked for        condition
//	is not there, has not ended anything         False, with what it does as the reason
//	completed                   not Failed       True, for good
//	failed                      not Complete     True, for good
//	completed, failed           the opposite     False, and this Job fails
//	waits for this one          anything         False, and this Job fails
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
		s.event(corev1.EventTypeNormal, "DependenciesMet", "All Jobs that were waited for have ended")
	case !slices.ContainsFunc(v.job.Status.Conditions, isDependency):
		s.event(corev1.EventTypeNormal, "WaitingForJobs", "Waiting for "+strings.Join(entries(left), ", "))
	}
}

// setDependency keeps the condition as it is where nothing is new.
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

// entries are those that the annotation has for the list.
func entries(list []DependencyRule) []string {
	texts := make([]string, 0, len(list))
	for _, d := range list {
		texts = append(texts, d.String())
	}
	return texts
}
