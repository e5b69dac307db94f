// Package scheduledjob has the defaults, validation and tables of ScheduledJobs, and the validation of runs on demand.
package scheduledjob

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/registry/job"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	core "github.com/stint-dev/stint/internal/job"
)

// Resource describes stint.dev/v1 ScheduledJobs. The CustomResourceDefinition in deploy/crds has the same rules, as far
// as it can express them.
func Resource(o pod.Options) kinds.Resource {
	return kinds.Resource{
		Version:    stintv1.SchemeGroupVersion,
		Kind:       "ScheduledJob",
		Plural:     "scheduledjobs",
		Singular:   "scheduledjob",
		ShortNames: []string{"sj"},
		Categories: []string{"all"},
		New:        func() runtime.Object { return &stintv1.ScheduledJob{} },
		NewList:    func() runtime.Object { return &stintv1.ScheduledJobList{} },

		Default: func(obj runtime.Object) { setDefaults(&obj.(*stintv1.ScheduledJob).Spec) },
		PrepareForCreate: func(_ context.Context, obj runtime.Object) {
			scheduledJob := obj.(*stintv1.ScheduledJob)
			scheduledJob.Status = stintv1.ScheduledJobStatus{}
			scheduledJob.Generation = 1
		},
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			return validate(obj.(*stintv1.ScheduledJob), &stintv1.ScheduledJob{}, o)
		},
		WarningsOnCreate: func(_ context.Context, obj runtime.Object) []string {
			scheduledJob := obj.(*stintv1.ScheduledJob)
			return append(job.WarnAnnotations(scheduledJob.Annotations, nil, core.AnnotationsPath),
				warn(scheduledJob, o, time.Now())...)
		},
		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			prepareForUpdate(obj.(*stintv1.ScheduledJob), old.(*stintv1.ScheduledJob))
		},
		ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
			return validate(obj.(*stintv1.ScheduledJob), old.(*stintv1.ScheduledJob), o)
		},
		WarningsOnUpdate: func(_ context.Context, obj, old runtime.Object) []string {
			return warnUpdate(obj.(*stintv1.ScheduledJob), old.(*stintv1.ScheduledJob), o)
		},
		Status: &kinds.Part{
			PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
				restoreAllButStatus(obj.(*stintv1.ScheduledJob), old.(*stintv1.ScheduledJob))
			},
			ResetFields: []string{"labels", "annotations", "finalizers", "ownerReferences"},
			ValidateUpdate: func(_ context.Context, obj, _ runtime.Object) field.ErrorList {
				return validateStatus(&obj.(*stintv1.ScheduledJob).Status, field.NewPath("status"))
			},
		},
		Columns: columns(),
		Row: func(obj runtime.Object, now time.Time) []any {
			return row(obj.(*stintv1.ScheduledJob), now)
		},
	}
}

func prepareForUpdate(scheduledJob, old *stintv1.ScheduledJob) {
	scheduledJob.Status = old.Status
	scheduledJob.Generation = old.Generation
	if !equality.Semantic.DeepEqual(scheduledJob.Spec, old.Spec) {
		scheduledJob.Generation++
	}
}

func warnUpdate(scheduledJob, old *stintv1.ScheduledJob, o pod.Options) []string {
	warnings := job.WarnAnnotations(scheduledJob.Annotations, old.Annotations, core.AnnotationsPath)
	if scheduledJob.Generation == old.Generation {
		return warnings
	}
	return append(warnings, warn(scheduledJob, o, time.Now())...)
}

// restoreAllButStatus restores everything except the status, also metadata, as for a CustomResourceDefinition.
func restoreAllButStatus(scheduledJob, old *stintv1.ScheduledJob) {
	version, managers := scheduledJob.ResourceVersion, scheduledJob.ManagedFields
	old.ObjectMeta.DeepCopyInto(&scheduledJob.ObjectMeta)
	scheduledJob.ResourceVersion, scheduledJob.ManagedFields = version, managers
	scheduledJob.Spec = old.Spec
}
