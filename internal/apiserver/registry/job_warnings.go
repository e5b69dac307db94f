package registry

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	core "github.com/stint-dev/stint/internal/job"
)

func warnJobCreate(job *batchv1.Job, o Options) []string {
	warnings := append(warnJobName(job.Name), warnJobAnnotations(job.Annotations, nil, core.AnnotationsPath)...)
	return append(warnings, warnJobSpec(&job.Spec, o, field.NewPath("spec"))...)
}

func warnJobUpdate(job, old *batchv1.Job, o Options) []string {
	warnings := warnJobAnnotations(job.Annotations, old.Annotations, core.AnnotationsPath)
	if job.Generation == old.Generation {
		return warnings
	}
	return append(warnings, warnJobSpec(&job.Spec, o, field.NewPath("spec"))...)
}

// warnJobName tells of names that are names of Jobs but make odd names and host names of pods.
func warnJobName(name string) []string {
	msgs := validation.IsDNS1123Label(name)
	if len(msgs) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("metadata.name: pods take their names and host names from it, which may surprise "+
		"because it is no DNS label: %s", strings.Join(msgs, "; "))}
}

func warnJobSpec(spec *batchv1.JobSpec, o Options, p *field.Path) []string {
	var warnings []string
	if isIndexed(spec) && ptr.Deref(spec.Completions, 0) > manyCompletions &&
		ptr.Deref(spec.Parallelism, 0) > maxParallelismForManyCompletions {
		warnings = append(warnings, fmt.Sprintf("%s: with more than %d completions and a parallelism above %d, "+
			"completedIndexes may become too long to be stored when many indexes fail",
			p, manyCompletions, maxParallelismForManyCompletions))
	}
	return append(warnings, warnPodTemplateSpec(&spec.Template, o, p.Child("template"))...)
}
