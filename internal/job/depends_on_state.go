package job

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
)

// dependencyState is the state of a dependency, in the words of its condition.
type dependencyState struct {
	reason, message string
	// satisfied is set if the Job has ended as required, unsatisfiable if it no longer can.
	satisfied, unsatisfiable bool
}

func (v *view) dependencyState(d DependencyRule) dependencyState {
	var dep Dependency
	if i := slices.IndexFunc(v.Dependencies, func(dep Dependency) bool { return dep.Name == d.Job }); i >= 0 {
		dep = v.Dependencies[i]
	}
	if len(dep.Cycle) > 0 {
		way := append([]string{v.job.Name}, dep.Cycle...)
		return dependencyState{reason: stateCycle, message: "Jobs wait for each other: " + Path(way), unsatisfiable: true}
	}
	s := dependencyState{reason: DependencyState(dep.Job)}
	s.message = "Job " + d.Job + " " + stateMessages[s.reason]
	if dep.Job == nil || !Finished(dep.Job) {
		return s
	}
	s.satisfied = d.End == DependsOnFinished || string(d.End) == s.reason
	s.unsatisfiable = !s.satisfied
	switch {
	case s.reason == stateFailed:
		// Only the reason: with the messages of failed Jobs in it, the message would grow along a chain of Jobs.
		s.message += ": " + End(dep.Job).Reason
	case s.unsatisfiable:
		s.message += ", but was required to fail"
	}
	return s
}

// The states of a Job that another one depends on.
const (
	stateNotFound    = "NotFound"
	stateTerminating = "Terminating"
	stateSuspended   = "Suspended"
	stateWaiting     = "Waiting"
	stateRunning     = "Running"
	stateComplete    = string(batchv1.JobComplete)
	stateFailed      = string(batchv1.JobFailed)
	// stateCycle is reported instead if the Job waits, directly or through other Jobs, for the one that depends on it.
	stateCycle = "Cycle"
)

var stateMessages = map[string]string{
	stateNotFound:    "does not exist",
	stateTerminating: "is being deleted",
	stateSuspended:   "is suspended",
	stateWaiting:     "waits for other Jobs",
	stateRunning:     "has not ended",
	stateComplete:    "has completed",
	stateFailed:      "has failed",
}

// DependencyState returns, in one word, the state of job that matters to Jobs that depend on it. A nil job is NotFound.
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

// Path formats the names of Jobs each of which waits for the next.
func Path(names []string) string { return strings.Join(names, " → ") }
