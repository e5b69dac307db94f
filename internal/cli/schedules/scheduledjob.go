package schedules

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/scheduledjob"
)

// runScheduledJob requests a run by …/run or, if the server does not serve that, by the status.
func (c *Clients) runScheduledJob(ctx context.Context, owner *stintv1.ScheduledJob, r Request) (Run, error) {
	if template := owner.Spec.Template; template != nil {
		if err := scheduledjob.Override(template.DeepCopy(), r.Overrides); err != nil {
			return Run{}, InputError{fmt.Errorf("scheduledjob %s: %w", owner.Name, err)}
		}
	}
	run := Run{Namespace: c.namespace, Kind: ScheduledJob, Name: owner.Name, Tag: r.Tag, Job: scheduledjob.JobName(owner.Name, r.Tag),
		Again: scheduledjob.Find(&owner.Status, r.Tag) != nil}
	if !run.Again && !ptr.Deref(owner.Spec.AllowConcurrentRun, true) {
		for _, e := range owner.Status.RunningExecutions {
			run.WaitsFor = append(run.WaitsFor, "run "+e.Tag)
		}
	}
	err := c.postRun(ctx, owner.Name, r)
	if apierrors.IsNotFound(err) {
		err = c.addRun(ctx, owner.Name, r)
	}
	return run, refused(err)
}

// postRun requests a run from stint server. Other servers return NotFound.
func (c *Clients) postRun(ctx context.Context, name string, r Request) error {
	body := &stintv1.ScheduledJobRun{Tag: r.Tag, Overrides: r.Overrides}
	body.APIVersion, body.Kind = stintv1.SchemeGroupVersion.String(), "ScheduledJobRun"
	body.Name = name
	err := c.stint.Post().Namespace(c.namespace).Resource(scheduledJobs).Name(name).SubResource("run").
		VersionedParams(&metav1.CreateOptions{FieldManager: fieldManager}, metav1.ParameterCodec).
		Body(body).Do(ctx).Error()
	if apierrors.IsAlreadyExists(err) {
		return otherRun(name, r.Tag)
	}
	return err
}

// addRun adds the run to the pending ones, and retries on conflicts.
func (c *Clients) addRun(ctx context.Context, name string, r Request) error {
	return retry.RetryOnConflict(contended, func() error {
		owner, err := c.scheduledJob(ctx, name)
		if err != nil {
			return err
		}
		if e := scheduledjob.Find(&owner.Status, r.Tag); e != nil {
			if !scheduledjob.SameRun(e, r.Overrides) {
				return otherRun(name, r.Tag)
			}
			return nil
		}
		owner.Status.PendingExecutions = append(owner.Status.PendingExecutions, stintv1.Execution{
			Tag: r.Tag, Trigger: stintv1.TriggerManual, Status: stintv1.ExecutionPending,
			CreatedAt: ptr.To(metav1.NewTime(time.Now())), Overrides: r.Overrides})
		return c.updateStatus(ctx, owner)
	})
}

func otherRun(name, tag string) error {
	return inputErrorf("scheduledjob %s has another run %s, with other overrides: choose another --tag", name, tag)
}
