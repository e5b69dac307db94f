package run

import (
	batchv1 "k8s.io/api/batch/v1"

	"github.com/stint-dev/stint/internal/cli/manifest"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// refuseAnnotations refuses invalid values of Stint's annotations. A cluster accepts them, and its stint controller ignores
// them. Jobs of other controllers are not checked.
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
