package cronjob

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	jobcore "github.com/stint-dev/stint/internal/job"
)

// updateStatus brings the status up to date with the Jobs, and adds events for what has changed.
func (v *view) updateStatus(d *Decision) {
	d.status = *v.cronJob.Status.DeepCopy()
	v.updateActive(d)
	for _, job := range v.ended {
		done := job.Status.CompletionTime
		if end(job) == batchv1.JobComplete && done != nil && later(done, d.status.LastSuccessfulTime) {
			d.status.LastSuccessfulTime = done.DeepCopy()
		}
	}
	for _, job := range v.Jobs {
		// The status write after the creation of the Job may have failed.
		due, scheduled := dueTime(v.cronJob, job)
		if t := metav1.NewTime(due); scheduled && later(&t, d.status.LastScheduleTime) {
			d.status.LastScheduleTime, d.RequeueAfterStatus = &t, true
			d.addCompleted(job) // It has ended before it was listed.
		}
	}
	for _, job := range v.otherJobs {
		d.addEvent(corev1.EventTypeWarning, "UnexpectedJob", "Saw a job that the controller did not create or forgot: "+job.Name)
	}
}

func later(a, b *metav1.Time) bool { return b == nil || a.After(b.Time) }

func (v *view) updateActive(d *Decision) {
	jobs := map[types.UID]*batchv1.Job{}
	for _, job := range v.Jobs {
		jobs[job.UID] = job
	}
	d.status.Active = slices.DeleteFunc(d.status.Active, func(r corev1.ObjectReference) bool {
		job := jobs[r.UID]
		if job == nil {
			if !v.Deleted[r.UID] {
				d.addEvent(corev1.EventTypeNormal, "MissingJob", "Active job went missing: "+r.Name)
			}
			return true
		}
		if end(job) != "" {
			d.addCompleted(job)
			return true
		}
		return jobcore.IsHeld(job) || v.isTerminatingReplaced(job)
	})
	for _, job := range v.running {
		if !v.listedActive[job.UID] {
			d.status.Active = append(d.status.Active, reference(job))
		}
	}
	if len(d.status.Active) == 0 {
		d.status.Active = nil
	}
}

func (d *Decision) addCompleted(job *batchv1.Job) {
	if how := end(job); how != "" {
		d.addEvent(corev1.EventTypeNormal, "SawCompletedJob", fmt.Sprintf("Saw completed job: %s, condition: %v", job.Name, how))
	}
}

func reference(job *batchv1.Job) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job",
		Namespace: job.Namespace, Name: job.Name, UID: job.UID, ResourceVersion: job.ResourceVersion,
	}
}
