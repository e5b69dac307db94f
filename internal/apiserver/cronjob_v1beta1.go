package apiserver

import (
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	batchv1beta1 "k8s.io/api/batch/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/cronjob/v1beta1"
)

// addCronJobV1beta1 adds batch/v1beta1's CronJobs to the scheme. They have the defaults of batch/v1.
func addCronJobV1beta1(scheme *runtime.Scheme, r kinds.Resource) error {
	scheme.AddTypeDefaultingFunc(&batchv1beta1.CronJob{}, func(obj any) {
		old := obj.(*batchv1beta1.CronJob)
		typeMeta := old.TypeMeta
		var current batchv1.CronJob
		v1beta1.ToBatch(old, &current)
		r.Default(&current)
		v1beta1.FromBatch(&current, old)
		old.TypeMeta = typeMeta
	})
	return errors.Join(
		addConversion(scheme, v1beta1.FromBatch),
		addConversion(scheme, v1beta1.ToBatch),
		addConversion(scheme, v1beta1.ListFromBatch),
		addConversion(scheme, v1beta1.ListToBatch),
	)
}
