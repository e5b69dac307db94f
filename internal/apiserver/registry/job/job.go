// Package job has the defaults, validation and tables of batch/v1 Jobs, of Job templates, and of Jobs in the older version
// extensions/v1beta1.
package job

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/warning"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	core "github.com/stint-dev/stint/internal/job"
)

// succeededField is the field label for status.succeeded in field selectors. Kubernetes has this name for it.
const succeededField = "status.successful"

// Resource describes batch/v1 Jobs.
func Resource(o pod.Options) kinds.Resource {
	return kinds.Resource{
		Version:    batchv1.SchemeGroupVersion,
		Kind:       "Job",
		Plural:     "jobs",
		Singular:   "job",
		Categories: []string{"all"},
		New:        func() runtime.Object { return &batchv1.Job{} },
		NewList:    func() runtime.Object { return &batchv1.JobList{} },

		Default: func(obj runtime.Object) { SetDefaults(obj.(*batchv1.Job)) },
		PrepareForCreate: func(ctx context.Context, obj runtime.Object) {
			addWarnings(ctx, prepareForCreate(obj.(*batchv1.Job)))
			keepRuntimeClass(obj.(*batchv1.Job), o)
			addWarnings(ctx, keepPodMaxPIDs(obj.(*batchv1.Job), o))
		},
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			return validateCreate(obj.(*batchv1.Job), o)
		},
		WarningsOnCreate: func(_ context.Context, obj runtime.Object) []string {
			return warnCreate(obj.(*batchv1.Job), o)
		},
		PrepareForUpdate: func(ctx context.Context, obj, old runtime.Object) {
			job, before := obj.(*batchv1.Job), old.(*batchv1.Job)
			addWarnings(ctx, prepareForUpdate(job, before))
			if job.Annotations[core.PodMaxPIDs] != before.Annotations[core.PodMaxPIDs] {
				addWarnings(ctx, keepPodMaxPIDs(job, o))
			}
		},
		ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
			return validateUpdate(obj.(*batchv1.Job), old.(*batchv1.Job), o)
		},
		WarningsOnUpdate: func(_ context.Context, obj, old runtime.Object) []string {
			return warnUpdate(obj.(*batchv1.Job), old.(*batchv1.Job), o)
		},
		Status: &kinds.Part{
			PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
				obj.(*batchv1.Job).Spec = old.(*batchv1.Job).Spec
			},
			ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
				return validateStatusUpdate(obj.(*batchv1.Job), old.(*batchv1.Job))
			},
		},
		SelectableFields: []kinds.SelectableField{{Name: succeededField, Value: func(obj runtime.Object) string {
			return strconv.Itoa(int(obj.(*batchv1.Job).Status.Succeeded))
		}}},
		// A deletion without a propagation policy orphans the pods, as in Kubernetes. kubectl always sets a policy.
		DefaultPropagation: metav1.DeletePropagationOrphan,
		Columns:            columns(),
		Row:                func(obj runtime.Object, now time.Time) []any { return row(obj.(*batchv1.Job), now) },
	}
}

// keepRuntimeClass stores the RuntimeClass of this server in a new Job that names none. It is not written into the template, which
// is to be valid on any cluster. A Job that was exported may have that of another server.
func keepRuntimeClass(job *batchv1.Job, o pod.Options) {
	delete(job.Annotations, core.RuntimeClass)
	if o.Node == nil || o.RuntimeClass == "" || job.Spec.Template.Spec.RuntimeClassName != nil {
		return
	}
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, core.RuntimeClass, o.RuntimeClass)
}

// keepPodMaxPIDs stores the process limit of this server's containers in a Job that is new, or whose limit was changed, unless that is
// lower. It returns warnings.
func keepPodMaxPIDs(job *batchv1.Job, o pod.Options) []string {
	if o.Node == nil || o.PodMaxPIDs == 0 {
		return nil
	}
	text, given := job.Annotations[core.PodMaxPIDs]
	own, limit := core.PodMaxPIDsOf(job.Annotations), o.PodMaxPIDs
	if given && (own == 0 || limit < 0 || 0 < own && own <= limit) {
		return nil // The annotation is not valid, or no higher.
	}
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, core.PodMaxPIDs, strconv.FormatInt(limit, 10))
	if !given {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s is more than a container may have on this server: it is set to %d (--pod-max-pids)",
		core.AnnotationsPath.Key(core.PodMaxPIDs), text, limit)}
}

// prepareForCreate prepares a new Job for storage. It returns warnings.
func prepareForCreate(job *batchv1.Job) []string {
	job.Status = batchv1.JobStatus{}
	job.Generation = 1
	warnings := createFromCopy(job)
	job.Labels = maps.Clone(job.Labels) // SetDefaults may have shared the map with the template.
	return warnings
}

// prepareForUpdate prepares an updated Job for storage. It returns warnings.
func prepareForUpdate(job, old *batchv1.Job) []string {
	job.Status = old.Status
	warnings := regenerateSelector(job, old)
	job.Labels = maps.Clone(job.Labels)
	if !equality.Semantic.DeepEqual(job.Spec, old.Spec) {
		job.Generation = old.Generation + 1
	}
	return warnings
}

func addWarnings(ctx context.Context, warnings []string) {
	for _, text := range warnings {
		warning.AddWarning(ctx, "", text)
	}
}
