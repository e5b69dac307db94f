package job

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	core "github.com/stint-dev/stint/internal/job"
)

// warnOfAnnotations makes an event of each invalid annotation, in whose place the default is used. The API server of
// a cluster does not know these annotations and accepts any value. There is one event for each value, and another one
// after a restart of the controller.
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

// newFaults keeps the faults of the annotations and returns those that the last sync did not find.
func (s *jobState) newFaults(faults []string) []string {
	known := s.faults
	s.faults = faults
	return slices.DeleteFunc(slices.Clone(faults), func(f string) bool { return slices.Contains(known, f) })
}
