package job

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
)

// dependencyState is how far a dependency has come, as the condition tells it.
type dependencyState struct {
	reason, message string
	// satisfied: it has ended as asked. hopeless: it never will.
	satisfied, unsatisfiable bool
}

func (v *view) dependencyState(d DependencyRule) dependencyState {
	var dep Dependency
	if i := slices.IndexFunc(v.Dependencies, func(dep Dependency) bool { return dep.Name == d.Job }); i >= 0 {
		dep = v.Dependencies[i]
	}
	if len(dep.Cycle) > 0 {
		way := append([]string{v.job.Name}, dep.Cycle...)
		return dependencyState{reason: cycle, message: "Jobs wait for each other: " + Path(way), unsatisfiable: true}
	}
	s := dependencyState{reason: DependencyState(dep.Job)}
	s.message = "Job " + d.Job + " " + endWords[s.reason]
	if dep.Job == nil || !Finished(dep.Job) {
		return s
	}
	s.satisfied = d.End == DependsOnFinished || string(d.End) == s.reason
	s.unsatisfiable = !s.satisfied
	switch {
	case s.reason == stateFailed:
		// No more than the reason: in a chain of Jobs the messages would grow.
		s.message += ": " + End(dep.Job).Reason
	case s.unsatisfiable:
		s.message += ", but was to fail"
	}
	return s
}

// The standings of a Job.
const (
	stateNotFound    = "NotFound"
	stateTerminating = "Terminating"
	stateSuspended   = "Suspended"
	stateWaiting     = "Waiting"
	stateRunning     = "Running"
	stateComplete    = string(batchv1.JobComplete)
	stateFailed      = string(batchv1.JobFailed)
	// cycle stands in for one of these where the Job waits, itself or through others, for the one that waits for it.
	cycle = "Cycle"
)

var endWords = map[string]string{
	stateNotFound:    "does not exist",
	stateTerminating: "is being deleted",
	stateSuspended:   "is suspended",
	stateWaiting:     "waits for other Jobs",
	stateRunning:     "has not ended",
	stateComplete:    "has completed",
	stateFailed:      "has failed",
}

// DependencyState is what matters about job to those that wait for it, in one word. A nil job is none.
func DependencyState(job *batchv1.Job) string {
	switch {
	case job == nil:
		return stateNotFound
	case Finished(job):
		return string(End(job).Type)
	case job.DeletionTimestamp != nil:
		return stateTerminating
	case suspended(job):
		return stateSuspended
	case WaitsForJobs(job):
		return stateWaiting
	}
	return stateRunning
}

// Path writes names of Jobs, each of which waits for the next.
func Path(names []string) string { return strings.Join(names, " → ") }
