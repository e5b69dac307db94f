package registry

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/registry/cronjob"
	"github.com/stint-dev/stint/internal/apiserver/registry/job"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
	"github.com/stint-dev/stint/internal/apiserver/registry/scheduledjob"
	"github.com/stint-dev/stint/test/wrappers"
)

func aCronJob() *batchv1.CronJob {
	return wrappers.MakeCronJob("c", "* * * * *").Image("busybox").Command("true").Obj()
}

func aScheduledJob() *stintv1.ScheduledJob {
	return wrappers.MakeScheduledJob("s").Image("busybox").Command("true").Obj()
}

// TestAnnotationsAreHeldToTheSameWhereverJobsComeFrom creates an object of each kind with an invalid value, and updates an
// object that is stored with it.
func TestAnnotationsAreHeldToTheSameWhereverJobsComeFrom(t *testing.T) {
	bad := registrytest.Annotations("failed-pods-limit", "-1")
	cronJob, scheduled, referring := aCronJob(), aScheduledJob(), aScheduledJob()
	cronJob.Spec.JobTemplate.Annotations, scheduled.Annotations, referring.Annotations = bad, bad, bad
	referring.Spec.Template, referring.Spec.TemplateRef = nil, &corev1.LocalObjectReference{Name: "t"}
	tests := map[string]struct {
		kind kinds.Resource
		obj  runtime.Object
		path string
	}{
		"a Job":     {job.Resource(pod.Options{}), registrytest.Job(func(j *batchv1.Job) { j.Annotations = bad }), "metadata.annotations"},
		"a CronJob": {cronjob.Resource(pod.Options{}), cronJob, "spec.jobTemplate.metadata.annotations"},
		"a ScheduledJob, which hands its annotations on": {scheduledjob.Resource(pod.Options{}), scheduled, "metadata.annotations"},
		"a ScheduledJob of a PodTemplate":                {scheduledjob.Resource(pod.Options{}), referring, "metadata.annotations"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, r := context.Background(), tt.kind
			r.Default(tt.obj)
			r.PrepareForCreate(ctx, tt.obj)
			var faults []string
			for _, err := range r.Validate(ctx, tt.obj) {
				faults = append(faults, err.Field)
			}
			if diff := cmp.Diff([]string{tt.path + "[stint.dev/failed-pods-limit]"}, faults); diff != "" {
				t.Errorf("created: %s", diff)
			}
			if errs := r.ValidateUpdate(ctx, tt.obj.DeepCopyObject(), tt.obj); len(errs) > 0 {
				t.Errorf("what is stored cannot be updated: %v", errs)
			}
		})
	}
}

// TestAnnotationsThatLookLikeOursAreWarnedOfWhereverJobsComeFrom creates an object of each kind with a misspelt annotation
// of Stint, adds the annotation to an object, and updates an object that has it.
func TestAnnotationsThatLookLikeOursAreWarnedOfWhereverJobsComeFrom(t *testing.T) {
	near := registrytest.Annotations("backoff-second", "1")
	tests := map[string]struct {
		kind kinds.Resource
		// with returns an object whose Jobs get these annotations.
		with func(annotations map[string]string) runtime.Object
		path string
	}{
		"a Job": {job.Resource(pod.Options{}), func(annotations map[string]string) runtime.Object {
			return registrytest.Job(func(j *batchv1.Job) { j.Annotations = annotations })
		}, "metadata.annotations"},
		"a CronJob": {cronjob.Resource(pod.Options{}), func(annotations map[string]string) runtime.Object {
			c := aCronJob()
			c.Spec.JobTemplate.Annotations = annotations
			return c
		}, "spec.jobTemplate.metadata.annotations"},
		"a ScheduledJob": {scheduledjob.Resource(pod.Options{}), func(annotations map[string]string) runtime.Object {
			s := aScheduledJob()
			s.Annotations = annotations
			return s
		}, "metadata.annotations"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, r := context.Background(), tt.kind
			want := tt.path + "[stint.dev/backoff-second]"
			stored := func(annotations map[string]string) runtime.Object {
				obj := tt.with(annotations)
				r.Default(obj)
				r.PrepareForCreate(ctx, obj)
				return obj
			}
			if got := strings.Join(r.WarningsOnCreate(ctx, stored(near)), "\n"); !strings.Contains(got, want) {
				t.Errorf("created: warnings %q, want one of %s", got, want)
			}
			updated := func(old runtime.Object) string {
				obj := tt.with(near)
				r.Default(obj)
				r.PrepareForUpdate(ctx, obj, old)
				return strings.Join(r.WarningsOnUpdate(ctx, obj, old), "\n")
			}
			if got := updated(stored(nil)); !strings.Contains(got, want) {
				t.Errorf("given the annotation: warnings %q, want one of %s", got, want)
			}
			if got := updated(stored(near)); strings.Contains(got, want) {
				t.Errorf("nothing is new: warnings %q", got)
			}
		})
	}
}

// TestAnnotationsOfJobsThatAreElsewhereAreWarnedOf sets annotations for Jobs on owners of Jobs and on pod templates.
func TestAnnotationsOfJobsThatAreElsewhereAreWarnedOf(t *testing.T) {
	stray := registrytest.Annotations("backoff-seconds", "1")
	cronJob := func(own, ofPods map[string]string) *batchv1.CronJob {
		c := aCronJob()
		c.Annotations, c.Spec.JobTemplate.Spec.Template.Annotations = own, ofPods
		return c
	}
	scheduled := aScheduledJob()
	scheduled.Spec.Template.Annotations = stray
	tests := map[string]struct {
		kind    kinds.Resource
		obj     runtime.Object
		at, own string
	}{
		"on a CronJob": {cronjob.Resource(pod.Options{}), cronJob(stray, nil), "metadata.annotations",
			"spec.jobTemplate.metadata.annotations"},
		"on the pods of its Jobs": {cronjob.Resource(pod.Options{}), cronJob(nil, stray), "spec.jobTemplate.spec.template.metadata.annotations",
			"the metadata.annotations of the Job"},
		"on the pods of a Job": {job.Resource(pod.Options{}), registrytest.Job(func(j *batchv1.Job) { j.Spec.Template.Annotations = stray }),
			"spec.template.metadata.annotations", "the metadata.annotations of the Job"},
		"on the pods of a ScheduledJob": {scheduledjob.Resource(pod.Options{}), scheduled, "spec.template.metadata.annotations",
			"the metadata.annotations of the Job"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, r := context.Background(), tt.kind
			r.Default(tt.obj)
			r.PrepareForCreate(ctx, tt.obj)
			want := tt.at + "[stint.dev/backoff-seconds]: this annotation has no effect here: set it in " + tt.own
			if diff := cmp.Diff([]string{want}, r.WarningsOnCreate(ctx, tt.obj)); diff != "" {
				t.Errorf("created: %s", diff)
			}
			if got := r.WarningsOnUpdate(ctx, tt.obj, tt.obj.DeepCopyObject()); len(got) > 0 {
				t.Errorf("nothing is new: warnings %q", got)
			}
		})
	}
}
