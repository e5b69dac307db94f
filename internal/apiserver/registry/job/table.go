package job

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	core "github.com/stint-dev/stint/internal/job"
)

func columns() []metav1.TableColumnDefinition {
	spec, status := batchv1.JobSpec{}.SwaggerDoc(), batchv1.JobStatus{}.SwaggerDoc()
	return append([]metav1.TableColumnDefinition{
		kinds.NameColumn,
		{Name: "Status", Type: "string", Description: "Status of the job."},
		{Name: "Completions", Type: "string", Description: status["succeeded"]},
		{Name: "Duration", Type: "string", Description: "Time required to complete the job."},
		kinds.AgeColumn,
	}, kinds.TemplateColumns(spec["selector"])...)
}

func row(job *batchv1.Job, now time.Time) []any {
	names, images := pod.ContainersAndImages(job.Spec.Template.Spec.Containers)
	return []any{
		job.Name,
		statusCell(job),
		completionsCell(job),
		durationCell(&job.Status, now),
		kinds.Age(job.CreationTimestamp, now),
		names,
		images,
		metav1.FormatLabelSelector(job.Spec.Selector),
	}
}

// statusCell returns the first status that applies. That a Job has finished is more important than the rest.
func statusCell(job *batchv1.Job) string {
	switch {
	case hasCondition(&job.Status, batchv1.JobComplete):
		return "Complete"
	case hasCondition(&job.Status, batchv1.JobFailed):
		return "Failed"
	case job.DeletionTimestamp != nil:
		return "Terminating"
	case hasCondition(&job.Status, batchv1.JobSuspended):
		return "Suspended"
	case hasCondition(&job.Status, batchv1.JobFailureTarget):
		return "FailureTarget"
	case hasCondition(&job.Status, batchv1.JobSuccessCriteriaMet):
		return "SuccessCriteriaMet"
	case core.WaitsForJobs(job):
		return "Waiting"
	case hasRunningPod(&job.Status):
		return "Running"
	}
	return "Pending" // kube-apiserver shows Running
}

// hasRunningPod reports whether a pod runs. If the controller does not set ready, all active pods count as running.
func hasRunningPod(status *batchv1.JobStatus) bool {
	return status.Active > 0 && ptr.Deref(status.Ready, 1) > 0 || ptr.Deref(status.Terminating, 0) > 0
}

// completionsCell returns SUCCEEDED/COMPLETIONS. A work queue needs one success of any pod.
func completionsCell(job *batchv1.Job) string {
	done := job.Status.Succeeded
	if job.Spec.Completions != nil {
		return fmt.Sprintf("%d/%d", done, *job.Spec.Completions)
	}
	if parallelism := ptr.Deref(job.Spec.Parallelism, 0); parallelism > 1 {
		return fmt.Sprintf("%d/1 of %d", done, parallelism)
	}
	return fmt.Sprintf("%d/1", done)
}

func durationCell(status *batchv1.JobStatus, now time.Time) string {
	switch {
	case status.StartTime == nil:
		return ""
	case status.CompletionTime == nil:
		return duration.HumanDuration(now.Sub(status.StartTime.Time))
	}
	return duration.HumanDuration(status.CompletionTime.Sub(status.StartTime.Time))
}
