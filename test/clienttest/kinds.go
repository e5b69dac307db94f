package clienttest

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/test/wrappers"
)

// subject is a kind, with what the promises that hold for every kind need.
type subject[T client.Object] struct {
	kind string
	of   func(Client) client.Resource[T]
	// blank returns an object without a name; spoil makes it invalid.
	blank func() T
	spoil func(T)
	// done changes the status, and isDone reports whether it is changed. Both are nil for a kind without a status.
	done   func(T)
	isDone func(T) bool
	// edit changes the spec, and edited reports whether it is changed. Both are nil for a kind whose spec is immutable.
	edit   func(T)
	edited func(T) bool
}

func (s subject[T]) named(w *world, name string) T {
	obj := s.blank()
	obj.SetNamespace(w.namespace)
	obj.SetName(name)
	return obj
}

func (s subject[T]) made(w *world, name string, changes ...func(T)) T {
	w.Helper()
	obj := s.named(w, name)
	for _, change := range changes {
		change(obj)
	}
	return must(s.of(w).Create(w.Context(), obj))(w)
}

func (s subject[T]) remove(w *world, obj T) {
	w.Helper()
	if err := s.of(w).Delete(w.Context(), obj, client.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}); err != nil {
		w.Fatal(err)
	}
}

var pods = subject[*corev1.Pod]{
	kind: "Pod", of: Client.Pods,
	blank:  func() *corev1.Pod { return wrappers.MakePod("").Command("true").Obj() },
	spoil:  func(p *corev1.Pod) { p.Spec.Containers = nil },
	done:   func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed },
	isDone: func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed },
	edit:   func(p *corev1.Pod) { p.Spec.Containers[0].Image = "other" },
	edited: func(p *corev1.Pod) bool { return p.Spec.Containers[0].Image == "other" },
}

var cronJobs = subject[*batchv1.CronJob]{
	kind: "CronJob", of: Client.CronJobs,
	blank: func() *batchv1.CronJob {
		return wrappers.MakeCronJob("", "@daily").Command("true").Obj()
	},
	spoil:  func(c *batchv1.CronJob) { c.Spec.Schedule = "never" },
	done:   func(c *batchv1.CronJob) { c.Status.Active = []corev1.ObjectReference{{Name: "a"}, {Name: "b"}} },
	isDone: func(c *batchv1.CronJob) bool { return len(c.Status.Active) == 2 && c.Status.Active[1].Name == "b" },
	edit:   func(c *batchv1.CronJob) { c.Spec.Suspend = ptr.To(true) },
	edited: func(c *batchv1.CronJob) bool { return *c.Spec.Suspend },
}

var scheduledJobs = subject[*stintv1.ScheduledJob]{
	kind: "ScheduledJob", of: Client.ScheduledJobs,
	blank: func() *stintv1.ScheduledJob {
		return wrappers.MakeScheduledJob("").TimeSpec("@daily").Command("true").Obj()
	},
	spoil: func(s *stintv1.ScheduledJob) { s.Spec.PodCount = ptr.To[int32](-1) },
	done: func(s *stintv1.ScheduledJob) {
		now := ptr.To(metav1.Now().Rfc3339Copy())
		s.Status.CompletedExecutions = []stintv1.Execution{{Tag: "a", Status: stintv1.ExecutionCompleted, CompletedAt: now},
			{Tag: "b", Status: stintv1.ExecutionCompleted, CompletedAt: now}}
	},
	isDone: func(s *stintv1.ScheduledJob) bool {
		return len(s.Status.CompletedExecutions) == 2 && s.Status.CompletedExecutions[1].Tag == "b"
	},
	edit:   func(s *stintv1.ScheduledJob) { s.Spec.Suspend = ptr.To(true) },
	edited: func(s *stintv1.ScheduledJob) bool { return ptr.Deref(s.Spec.Suspend, false) },
}

var resultSlices = subject[*stintv1.ResultSlice]{
	kind: "ResultSlice", of: Client.ResultSlices,
	blank: func() *stintv1.ResultSlice {
		return &stintv1.ResultSlice{Results: []stintv1.PodResult{{Pod: "a", UID: "a", Phase: corev1.PodFailed}}}
	},
	spoil: func(s *stintv1.ResultSlice) { s.Results[0].Pod = "" },
	edit: func(s *stintv1.ResultSlice) {
		s.Results = append(s.Results, stintv1.PodResult{Pod: "b", UID: "b", Phase: corev1.PodSucceeded})
	},
	edited: func(s *stintv1.ResultSlice) bool { return len(s.Results) == 2 && s.Results[1].Pod == "b" },
}

var podTemplates = subject[*corev1.PodTemplate]{
	kind: "PodTemplate", of: Client.PodTemplates,
	blank: func() *corev1.PodTemplate {
		return &corev1.PodTemplate{Template: wrappers.MakeJob("").Command("true").Obj().Spec.Template}
	},
	spoil:  func(p *corev1.PodTemplate) { p.Template.Spec.Containers = nil },
	edit:   func(p *corev1.PodTemplate) { p.Template.Spec.Containers[0].Image = "other" },
	edited: func(p *corev1.PodTemplate) bool { return p.Template.Spec.Containers[0].Image == "other" },
}
