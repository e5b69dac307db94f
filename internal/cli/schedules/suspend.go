package schedules

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// Suspend suspends a Job, CronJob or ScheduledJob, and returns a message for the user.
func (c *Clients) Suspend(ctx context.Context, object metav1.Object) (string, error) {
	return c.setSuspend(ctx, object, true)
}

// Resume resumes a suspended object, or a ScheduledJob that a failed run has blocked.
func (c *Clients) Resume(ctx context.Context, object metav1.Object) (string, error) {
	scheduled, ok := object.(*stintv1.ScheduledJob)
	if !ok || !meta.IsStatusConditionTrue(scheduled.Status.Conditions, stintv1.ConditionBlocked) {
		return c.setSuspend(ctx, object, false)
	}
	done := ""
	if ptr.Deref(scheduled.Spec.Suspend, false) {
		var err error
		if done, err = c.setSuspend(ctx, object, false); err != nil {
			return "", err
		}
		done += "\n"
	}
	why := meta.FindStatusCondition(scheduled.Status.Conditions, stintv1.ConditionBlocked).Message
	if err := c.unblock(ctx, scheduled.Name); err != nil {
		return "", fmt.Errorf("clear the condition Blocked: %w", err)
	}
	return fmt.Sprintf("%sscheduledjob %s is no longer blocked (%s)", done, scheduled.Name, why), nil
}

// unblock sets the condition Blocked to False.
func (c *Clients) unblock(ctx context.Context, name string) error {
	return retry.RetryOnConflict(contended, func() error {
		scheduled, err := c.scheduledJob(ctx, name)
		if err != nil {
			return err
		}
		changed := meta.SetStatusCondition(&scheduled.Status.Conditions, metav1.Condition{Type: stintv1.ConditionBlocked,
			Status: metav1.ConditionFalse, Reason: "Resumed", Message: "cleared with stint resume",
			ObservedGeneration: scheduled.Generation, LastTransitionTime: metav1.NewTime(time.Now())})
		if !changed {
			return nil
		}
		return c.updateStatus(ctx, scheduled)
	})
}

// setSuspend writes spec.suspend, unless it has the value already. A finished Job is an error.
func (c *Clients) setSuspend(ctx context.Context, object metav1.Object, suspend bool) (string, error) {
	kind, is := suspended(object)
	name := object.GetName()
	state := map[bool]string{true: "suspended", false: "resumed"}[suspend]
	if job, ok := object.(*batchv1.Job); ok && jobcore.Finished(job) {
		return "", fmt.Errorf("job %s has ended and cannot be %s", name, state)
	}
	if suspend == is {
		return fmt.Sprintf("%s %s is %s", kind, name, map[bool]string{true: "suspended already", false: "not suspended"}[suspend]), nil
	}
	if err := c.patchSuspend(ctx, kind, name, fmt.Appendf(nil, `{"spec":{"suspend":%t}}`, suspend)); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s %s", kind, name, state), nil
}

func suspended(object metav1.Object) (kind Kind, is bool) {
	switch o := object.(type) {
	case *batchv1.Job:
		return Job, ptr.Deref(o.Spec.Suspend, false)
	case *batchv1.CronJob:
		return CronJob, ptr.Deref(o.Spec.Suspend, false)
	case *stintv1.ScheduledJob:
		return ScheduledJob, ptr.Deref(o.Spec.Suspend, false)
	}
	panic(fmt.Sprintf("%T cannot be suspended", object)) // Find returns no others
}

func (c *Clients) patchSuspend(ctx context.Context, kind Kind, name string, patch []byte) error {
	options := metav1.PatchOptions{FieldManager: fieldManager}
	var err error
	switch kind {
	case Job:
		_, err = c.batch.Jobs(c.namespace).Patch(ctx, name, types.MergePatchType, patch, options)
	case CronJob:
		_, err = c.batch.CronJobs(c.namespace).Patch(ctx, name, types.MergePatchType, patch, options)
	case ScheduledJob:
		err = c.stint.Patch(types.MergePatchType).Namespace(c.namespace).Resource(scheduledJobs).Name(name).
			VersionedParams(&options, metav1.ParameterCodec).Body(patch).Do(ctx).Error()
	}
	return err
}
