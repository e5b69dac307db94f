package run

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/stint-dev/stint/internal/cli/manifest"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// refuseAnnotations finds values that ask for what cannot be done. A cluster accepts them, and its stint controller goes
// on as if they were not there. To other controllers they mean nothing anyway.
func refuseAnnotations(o *manifest.Object, job *batchv1.Job) error {
	if jobcore.ManagerOf(job) != jobcore.ManagedBy {
		return nil
	}
	_, errs := jobcore.ReadAnnotations(job.Annotations, jobcore.AnnotationsPath)
	var problems manifest.Problems
	for _, err := range errs {
		problems = append(problems, manifest.Problem{Place: o.Place, Field: err.Field, Message: err.ErrorBody()})
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}
