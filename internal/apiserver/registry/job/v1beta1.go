package job

import (
	"context"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/api/extensions/v1beta1"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

// V1beta1 describes the Jobs of extensions/v1beta1. Its functions get batch/v1 Jobs, to which the server converts
// requests. Only Default gets Jobs of extensions/v1beta1, because unset fields have other defaults in that version.
func V1beta1(jobs kinds.Resource) kinds.Resource {
	r := jobs
	r.Version = v1beta1.SchemeGroupVersion
	r.Categories = nil // `kubectl get all` must list each Job only once.
	r.Default = func(obj runtime.Object) { setV1beta1Defaults(obj.(*v1beta1.Job)) }

	r.PrepareForCreate = func(ctx context.Context, obj runtime.Object) {
		managersToBatch(obj)
		jobs.PrepareForCreate(ctx, obj)
	}
	r.PrepareForUpdate = func(ctx context.Context, obj, old runtime.Object) {
		managersToBatch(obj)
		jobs.PrepareForUpdate(ctx, obj, old)
	}
	r.Validate = func(ctx context.Context, obj runtime.Object) field.ErrorList {
		return inV1beta1(jobs.Validate(ctx, obj))
	}
	r.ValidateUpdate = func(ctx context.Context, obj, old runtime.Object) field.ErrorList {
		return inV1beta1(jobs.ValidateUpdate(ctx, obj, old))
	}
	r.WarningsOnCreate = func(ctx context.Context, obj runtime.Object) []string {
		return append(warnSelectorOfOtherJob(obj.(*batchv1.Job)), jobs.WarningsOnCreate(ctx, obj)...)
	}
	r.Status = &kinds.Part{
		PrepareForUpdate: func(ctx context.Context, obj, old runtime.Object) {
			managersToBatch(obj)
			jobs.Status.PrepareForUpdate(ctx, obj, old)
		},
		ValidateUpdate: jobs.Status.ValidateUpdate,
		ResetFields:    jobs.Status.ResetFields,
	}
	return r
}

// managersToBatch converts managedFields to batch/v1, which is the only version that is stored.
func managersToBatch(obj runtime.Object) {
	job := obj.(*batchv1.Job)
	job.ManagedFields = v1beta1.ManagersToBatch(job.ManagedFields)
}

// setV1beta1Defaults sets the defaults of batch/v1 and those of extensions/v1beta1.
func setV1beta1Defaults(job *v1beta1.Job) {
	v1beta1.SetDefaultSelector(&job.Spec)
	typeMeta, asked := job.TypeMeta, job.Spec.AutoSelector
	var batch batchv1.Job
	v1beta1.ToBatch(job, &batch)
	SetDefaults(&batch)
	v1beta1.FromBatch(&batch, job)
	job.TypeMeta, job.Spec.AutoSelector = typeMeta, asked
}

func inV1beta1(errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		err.Detail = v1beta1.ConvertMessage(err.Detail)
	}
	return errs
}

// warnSelectorOfOtherJob warns if the selector is that of another Job, exported from batch/v1: in this version it
// counts as chosen by the user.
func warnSelectorOfOtherJob(job *batchv1.Job) []string {
	uids, only := selectedUIDs(&job.Spec)
	if !ptr.Deref(job.Spec.ManualSelector, false) || !only || len(uids) != 1 {
		return nil
	}
	uid := slices.Collect(maps.Keys(uids))[0]
	if !uidPattern.MatchString(uid) {
		return nil
	}
	return []string{"spec.selector: selects the pods of the Job with UID " + uid +
		": if it was copied from that Job, set spec.autoSelector to true, and it is generated anew"}
}
