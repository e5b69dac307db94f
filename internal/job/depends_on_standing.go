package job

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
)

// standing is how far a dependency has come, as the condition tells it.
type standing struct {
	reason, message string
	// met: it has ended as asked. hopeless: it never will.
	met, hopeless bool
}

func (v *view) standing(d Dependence) standing {
	var dep Dependency
	if i := slices.IndexFunc(v.Dependencies, func(dep Dependency) bool { return dep.Name == d.Job }); i >= 0 {
		dep = v.Dependencies[i]
	}
	if len(dep.Cycle) > 0 {
		way := append([]string{v.job.Name}, dep.Cycle...)
		return standing{reason: cycle, message: "Jobs wait for each other: " + Path(way), hopeless: true}
	}
	s := standing{reason: Standing(dep.Job)}
	s.message = "Job " + d.Job + " " + inWords[s.reason]
	if dep.Job == nil || !Finished(dep.Job) {
		return s
	}
	s.met = d.End == DependsOnFinished || string(d.End) == s.reason
	s.hopeless = !s.met
	switch {
	case s.reason == standingFailed:
		// No more than the reason: in a chain of Jobs the messages would grow.
		s.message += ": " + End(dep.Job).Reason
	case s.hopeless:
		s.message += ", but was to fail"
	}
	return s
}

// The standings of a Job.
const (
	standingNotFound    = "NotFound"
	standingTerminating = "Terminating"
	standingSuspended   = "Suspended"
	standingWaiting     = "Waiting"
	standingRunning     = "Running"
	standingComplete    = string(batchv1.JobComplete)
	standingFailed      = string(batchv1.JobFailed)
	// cycle stands in for one of these where the Job waits, itself or through others, for the one that waits for it.
	cycle = "Cycle"
)

var inWords = map[string]string{
	standingNotFound:    "does not exist",
	standingTerminating: "is being deleted",
	standingSuspended:   "is suspended",
	standingWaiting:     "waits for other Jobs",
	standingRunning:     "has not ended",
	standingComplete:    "has completed",
	standingFailed:      "has failed",
}

// Standing is what matters about job to those that wait for it, in one word. A nil job is none.
func Standing(job *batchv1.Job) string {
	switch {
	case job == nil:
		return standingNotFound
	case Finished(job):
		return string(End(job).Type)
	case job.DeletionTimestamp != nil:
		return standingTerminating
	case suspended(job):
		return standingSuspended
	case WaitsForJobs(job):
		return standingWaiting
	}
	return standingRunning
}

// Path writes names of Jobs, each of which waits for the next.
func Path(names []string) string { return strings.Join(names, " → ") }
