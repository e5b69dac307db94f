package registry

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// ScheduledJob describes stint.dev/v1 ScheduledJobs.
func ScheduledJob(Options) Resource {
	return Resource{
		Version:    stintv1.SchemeGroupVersion,
		Kind:       "ScheduledJob",
		Plural:     "scheduledjobs",
		Singular:   "scheduledjob",
		ShortNames: []string{"sj"},
		Categories: []string{"all"},
		New:        func() runtime.Object { return &stintv1.ScheduledJob{} },
		NewList:    func() runtime.Object { return &stintv1.ScheduledJobList{} },
		PrepareForCreate: func(_ context.Context, obj runtime.Object) {
			scheduledJob := obj.(*stintv1.ScheduledJob)
			scheduledJob.Status = stintv1.ScheduledJobStatus{}
			scheduledJob.Generation = 1
		},
		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			scheduledJob, was := obj.(*stintv1.ScheduledJob), old.(*stintv1.ScheduledJob)
			scheduledJob.Status = was.Status
			if !equality.Semantic.DeepEqual(scheduledJob.Spec, was.Spec) {
				scheduledJob.Generation = was.Generation + 1
			}
		},
		Status: &StatusStrategy{
			PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
				obj.(*stintv1.ScheduledJob).Spec = old.(*stintv1.ScheduledJob).Spec
			},
		},
	}
}
