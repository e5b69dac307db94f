package job

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	core "github.com/stint-dev/stint/internal/job"
)

// warnOfAnnotations tells of values that ask for nothing that can be done; the defaults hold in their place. A cluster's
// API server knows nothing of them and takes all. Each value is told of once, and again by the next controller.
func (c *Controller) warnOfAnnotations(job *batchv1.Job) {
	_, errs := core.ReadAnnotations(job.Annotations, core.AnnotationsPath)
	var faults []string
	for _, err := range errs {
		faults = append(faults, err.Error())
	}
	var unknown []string
	c.jobs.Update(job, func(s *jobState) { unknown = s.newFaults(faults) })
	for _, fault := range unknown {
		c.recorder.Event(job, corev1.EventTypeWarning, "InvalidAnnotation", fault)
	}
}

// newFaults remembers the faults of a Job and returns those that it did not have the last time.
func (s *jobState) newFaults(faults []string) []string {
	told := s.faults
	s.faults = faults
	return slices.DeleteFunc(slices.Clone(faults), func(f string) bool { return slices.Contains(told, f) })
}
