// Package cronjob has the defaults, validation and tables of CronJobs.
package cronjob

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/api/batch/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/job"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	core "github.com/stint-dev/stint/internal/job"
)

// The default history limits: how many finished Jobs a CronJob keeps.
const (
	DefaultSuccessfulJobsHistory = 3
	DefaultFailedJobsHistory     = 1
)

// Resource describes CronJobs. Its functions get objects of batch/v1: the server converts those of other versions.
func Resource(o pod.Options) kinds.Resource {
	return kinds.Resource{
		Version:       batchv1.SchemeGroupVersion,
		OlderVersions: []schema.GroupVersion{v1beta1.SchemeGroupVersion},

		Kind:       "CronJob",
		Plural:     "cronjobs",
		Singular:   "cronjob",
		ShortNames: []string{"cj"},
		Categories: []string{"all"},
		New:        func() runtime.Object { return &batchv1.CronJob{} },
		NewList:    func() runtime.Object { return &batchv1.CronJobList{} },

		Default: func(obj runtime.Object) { setDefaults(obj.(*batchv1.CronJob)) },
		PrepareForCreate: func(_ context.Context, obj runtime.Object) {
			cronJob := obj.(*batchv1.CronJob)
			cronJob.Status = batchv1.CronJobStatus{}
			cronJob.Generation = 1
		},
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			return validateCreate(obj.(*batchv1.CronJob), o)
		},
		WarningsOnCreate: func(_ context.Context, obj runtime.Object) []string {
			return warnCreate(obj.(*batchv1.CronJob), o)
		},
		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			prepareForUpdate(obj.(*batchv1.CronJob), old.(*batchv1.CronJob))
		},
		ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
			return validateUpdate(obj.(*batchv1.CronJob), old.(*batchv1.CronJob), o)
		},
		WarningsOnUpdate: func(_ context.Context, obj, old runtime.Object) []string {
			return warnUpdate(obj.(*batchv1.CronJob), old.(*batchv1.CronJob), o)
		},
		Status: &kinds.Part{
			PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
				obj.(*batchv1.CronJob).Spec = old.(*batchv1.CronJob).Spec
			},
		},
		Columns: columns(),
		Row:     func(obj runtime.Object, now time.Time) []any { return row(obj.(*batchv1.CronJob), now) },
	}
}

// setDefaults sets no defaults for the Job template's own fields: Jobs get them when they are created.
func setDefaults(cronJob *batchv1.CronJob) {
	spec := &cronJob.Spec
	pod.SetTemplateDefaults(&spec.JobTemplate.Spec.Template)
	job.SetPodFailurePolicyDefaults(spec.JobTemplate.Spec.PodFailurePolicy)
	if spec.ConcurrencyPolicy == "" {
		spec.ConcurrencyPolicy = batchv1.AllowConcurrent
	}
	if spec.Suspend == nil {
		spec.Suspend = ptr.To(false)
	}
	if spec.SuccessfulJobsHistoryLimit == nil {
		spec.SuccessfulJobsHistoryLimit = ptr.To[int32](DefaultSuccessfulJobsHistory)
	}
	if spec.FailedJobsHistoryLimit == nil {
		spec.FailedJobsHistoryLimit = ptr.To[int32](DefaultFailedJobsHistory)
	}
}

func prepareForUpdate(cronJob, old *batchv1.CronJob) {
	cronJob.Status = old.Status
	if !equality.Semantic.DeepEqual(cronJob.Spec, old.Spec) {
		cronJob.Generation = old.Generation + 1
	}
}

func warnCreate(cronJob *batchv1.CronJob, o pod.Options) []string {
	warnings := append(job.WarnName(cronJob.Name), warnJobTemplateAnnotations(cronJob, &batchv1.CronJob{})...)
	warnings = append(warnings, pod.WarnStrayAnnotations(cronJob.Annotations, core.AnnotationsPath,
		jobTemplatePath.Child("metadata", "annotations").String())...)
	return append(warnings, job.WarnSpec(&cronJob.Spec.JobTemplate.Spec, o, jobTemplatePath.Child("spec"))...)
}

func warnUpdate(cronJob, old *batchv1.CronJob, o pod.Options) []string {
	if cronJob.Generation == old.Generation {
		return nil
	}
	return append(warnJobTemplateAnnotations(cronJob, old),
		job.WarnSpec(&cronJob.Spec.JobTemplate.Spec, o, jobTemplatePath.Child("spec"))...)
}

func warnJobTemplateAnnotations(cronJob, old *batchv1.CronJob) []string {
	return job.WarnAnnotations(cronJob.Spec.JobTemplate.Annotations, old.Spec.JobTemplate.Annotations,
		jobTemplatePath.Child("metadata", "annotations"))
}
