package schedules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/scheduledjob"
)

// Start waits until the run has a Job or has finished, and returns the Job. If the Job does not exist (any more), it returns one
// that is filled in from the status of the ScheduledJob, and false. What the run waits for is passed to note.
func (c *Clients) Start(ctx context.Context, run Run, note func(string)) (job *batchv1.Job, there bool, err error) {
	if run.job != nil {
		return run.job, true, nil
	}
	told := ""
	e, err := c.until(ctx, run, func(e *stintv1.Execution) bool {
		if text := cmp.Or(e.Message, e.Reason); text != told && e.Status == stintv1.ExecutionPending {
			told = text
			note(run.describe() + ": " + text)
		}
		return e.Status == stintv1.ExecutionRunning || e.Status == stintv1.ExecutionCompleted
	})
	if err != nil {
		return nil, false, err
	}
	err = c.persist(ctx, func(ctx context.Context) (err error) {
		job, err = c.batch.Jobs(c.namespace).Get(ctx, run.Job, metav1.GetOptions{})
		return err
	})
	if err == nil && e.JobUID == job.UID {
		return job, true, nil
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, false, fmt.Errorf("look at job %s: %w", run.Job, err)
	}
	gone := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: run.Job, UID: e.JobUID}}
	return c.CompleteDeleted(ctx, run, gone), false, nil
}

// deletedJobTimeout is how long the controller may take to observe that a Job was deleted. It needs much less, unless it does
// not run.
const deletedJobTimeout = 2 * time.Minute

// CompleteDeleted adds the terminal condition to a deleted Job, if the status of its ScheduledJob has the outcome.
func (c *Clients) CompleteDeleted(ctx context.Context, run Run, job *batchv1.Job) *batchv1.Job {
	if run.Kind != ScheduledJob {
		return job
	}
	ctx, cancel := context.WithTimeout(ctx, deletedJobTimeout)
	defer cancel()
	e, err := c.until(ctx, run, func(e *stintv1.Execution) bool { return e.Status == stintv1.ExecutionCompleted })
	if err != nil || e.Success == nil {
		return job
	}
	return ended(job, e)
}

// ended returns the Job with the status that the finished execution implies.
func ended(job *batchv1.Job, e *stintv1.Execution) *batchv1.Job {
	job = job.DeepCopy()
	condition := batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionTrue,
		Reason: e.Reason, Message: e.Message, LastTransitionTime: ptr.Deref(e.CompletedAt, metav1.Time{})}
	if *e.Success {
		condition.Type = batchv1.JobComplete
		job.Status.CompletionTime = e.CompletedAt
	}
	job.Status.StartTime = e.StartedAt
	job.Status.Conditions = append(job.Status.Conditions, condition)
	return job
}

// until reads the run from the ScheduledJob's status until wanted returns true.
func (c *Clients) until(ctx context.Context, run Run, wanted func(*stintv1.Execution) bool) (*stintv1.Execution, error) {
	var last *stintv1.Execution
	err := c.persist(ctx, func(ctx context.Context) error {
		owner, err := c.scheduledJob(ctx, run.Name)
		if err != nil {
			return err
		}
		last = scheduledjob.Find(&owner.Status, run.Tag)
		switch {
		case last == nil:
			return fmt.Errorf("%s is not in the status any more: it was removed, or is older than the history limit", run.describe())
		case !wanted(last):
			return errNotYet
		}
		return nil
	})
	return last, err
}

var errNotYet = errors.New("not yet")

// persist calls ask, with growing delays, until it succeeds or fails with a lasting error.
func (c *Clients) persist(ctx context.Context, ask func(context.Context) error) error {
	often := wait.Backoff{Duration: 50 * time.Millisecond, Factor: 1.2, Cap: time.Second, Steps: math.MaxInt32}
	return often.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := ask(ctx)
		c.reconnect(ctx, err)
		return err == nil, lasting(err)
	})
}

// reconnect connects to another server if the current one refuses connections and there is another.
func (c *Clients) reconnect(ctx context.Context, err error) {
	if c.Reconnect == nil || !utilnet.IsConnectionRefused(err) {
		return
	}
	if t, err := c.Reconnect(ctx); err == nil {
		_ = c.use(t) // after an error the next call tries again
	}
}

// lasting returns nil for a temporary error.
func lasting(err error) error {
	if errors.Is(err, errNotYet) || utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsTimeout(err) ||
		utilnet.IsProbableEOF(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) ||
		apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err) {
		return nil
	}
	return err
}
