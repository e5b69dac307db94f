package job

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	core "github.com/stint-dev/stint/internal/job"
)

func warnCreate(job *batchv1.Job, o pod.Options) []string {
	warnings := append(WarnName(job.Name), WarnAnnotations(job.Annotations, nil, core.AnnotationsPath)...)
	return append(warnings, WarnSpec(&job.Spec, o, field.NewPath("spec"))...)
}

func warnUpdate(job, old *batchv1.Job, o pod.Options) []string {
	warnings := WarnAnnotations(job.Annotations, old.Annotations, core.AnnotationsPath)
	if job.Generation == old.Generation {
		return warnings
	}
	return append(warnings, WarnSpec(&job.Spec, o, field.NewPath("spec"))...)
}

// WarnName warns about names that are valid for Jobs, but no DNS labels, which the host names of pods have to be.
func WarnName(name string) []string {
	msgs := validation.IsDNS1123Label(name)
	if len(msgs) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("metadata.name: pods take their names and host names from it, which may surprise "+
		"because it is no DNS label: %s", strings.Join(msgs, "; "))}
}

// WarnSpec warns about parts of a valid spec that may not do what the user expects.
func WarnSpec(spec *batchv1.JobSpec, o pod.Options, p *field.Path) []string {
	var warnings []string
	if isIndexed(spec) && ptr.Deref(spec.Completions, 0) > manyCompletions &&
		ptr.Deref(spec.Parallelism, 0) > maxParallelismForManyCompletions {
		warnings = append(warnings, fmt.Sprintf("%s: with more than %d completions and a parallelism above %d, "+
			"completedIndexes may become too long to be stored when many indexes fail",
			p, manyCompletions, maxParallelismForManyCompletions))
	}
	return append(warnings, pod.WarnTemplate(&spec.Template, o, p.Child("template"))...)
}
