package wrappers

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// ScheduledJobWrapper builds a ScheduledJob.
type ScheduledJobWrapper struct {
	metadata[*ScheduledJobWrapper]
	podSpec[*ScheduledJobWrapper]
	scheduledJob *stintv1.ScheduledJob
}

// MakeScheduledJob begins a ScheduledJob that runs on demand only, and whose runs have one container, which is not restarted.
func MakeScheduledJob(name string) *ScheduledJobWrapper {
	template := &corev1.PodTemplateSpec{Spec: runOnce()}
	w := &ScheduledJobWrapper{scheduledJob: &stintv1.ScheduledJob{ObjectMeta: metav1.ObjectMeta{Name: name}}}
	w.scheduledJob.Spec.Template = template
	w.metadata = metadata[*ScheduledJobWrapper]{w, &w.scheduledJob.ObjectMeta}
	w.podSpec = podSpec[*ScheduledJobWrapper]{w, &template.Spec}
	return w
}

// Obj is the ScheduledJob.
func (w *ScheduledJobWrapper) Obj() *stintv1.ScheduledJob { return w.scheduledJob }

// With makes changes for which there is no method.
func (w *ScheduledJobWrapper) With(changes ...func(*stintv1.ScheduledJob)) *ScheduledJobWrapper {
	for _, change := range changes {
		change(w.scheduledJob)
	}
	return w
}

// TimeSpec sets when the runs are due.
func (w *ScheduledJobWrapper) TimeSpec(timeSpec string) *ScheduledJobWrapper {
	w.scheduledJob.Spec.Schedule = &stintv1.Schedule{TimeSpec: timeSpec}
	return w
}
