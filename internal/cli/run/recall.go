package run

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"

	jobcore "github.com/stint-dev/stint/internal/job"
)

// endByEvents adds the terminal condition to a Job that was deleted while it was not watched, if an event reports it.
func (c *concluder) endByEvents(ctx context.Context, job *batchv1.Job) *batchv1.Job {
	ctx, cancel := context.WithTimeout(ctx, c.lateDataTimeout)
	defer cancel()
	ended := job
	// If the events cannot be read, the outcome stays unknown.
	_ = wait.PollUntilContextCancel(ctx, 500*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		list, err := c.core().Events(job.Namespace).List(ctx, metav1.ListOptions{
			FieldSelector: fields.OneTermEqualSelector("involvedObject.uid", string(job.UID)).String()})
		if err != nil {
			return false, err
		}
		i := slices.IndexFunc(list.Items, func(e corev1.Event) bool { return endToldBy(&e) != "" })
		if i < 0 {
			return false, nil
		}
		e := &list.Items[i]
		ended = job.DeepCopy()
		ended.Status.Conditions = append(ended.Status.Conditions, batchv1.JobCondition{Type: endToldBy(e),
			Status: corev1.ConditionTrue, Reason: e.Reason, Message: e.Message, LastTransitionTime: e.LastTimestamp})
		return true, nil
	})
	return ended
}

// endReasons are the reasons of events and conditions of failed Jobs.
var endReasons = []string{batchv1.JobReasonPodFailurePolicy, batchv1.JobReasonBackoffLimitExceeded,
	batchv1.JobReasonDeadlineExceeded, batchv1.JobReasonMaxFailedIndexesExceeded, batchv1.JobReasonFailedIndexes, jobcore.DependencyFailed}

// endToldBy returns the terminal condition that an event of a Job reports, if any.
func endToldBy(e *corev1.Event) batchv1.JobConditionType {
	switch {
	case e.Type == corev1.EventTypeNormal && e.Reason == "Completed":
		return batchv1.JobComplete
	case e.Type == corev1.EventTypeWarning && slices.Contains(endReasons, e.Reason):
		return batchv1.JobFailed
	}
	return ""
}
