package apiserver

import (
	"context"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/warning"

	jobregistry "github.com/stint-dev/stint/internal/apiserver/registry/job"
	"github.com/stint-dev/stint/internal/cronjob"
)

// cronJobHold suspends a manual run of a CronJob at its creation, if the CronJob's concurrency policy is Forbid and another
// run is active, so that no pod of it starts. The controller resumes it.
type cronJobHold struct {
	cronJobs, jobs *genericregistry.Store
	// mu serializes creations until the Job is stored. Otherwise two concurrent ones would not find each other's Job.
	mu sync.Mutex
}

// holdRuns installs cronJobHold in the store of Jobs.
func holdRuns(stores []*genericregistry.Store) {
	h := &cronJobHold{}
	for _, st := range stores {
		switch st.DefaultQualifiedResource {
		case batchv1.Resource("cronjobs"):
			h.cronJobs = st
		case batchv1.Resource("jobs"):
			h.jobs = st
		}
	}
	if h.cronJobs != nil && h.jobs != nil {
		h.jobs.BeginCreate = h.begin
	}
}

// begin is the store's BeginCreate hook, which is called for every new Job, from HTTP and in process. The store calls the
// returned function after the creation.
func (h *cronJobHold) begin(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
	job := obj.(*batchv1.Job)
	finish := func(context.Context, bool) {}
	if !cronjob.IsManual(job) || job.Spec.Suspend != nil && *job.Spec.Suspend || jobregistry.IsExported(job) {
		return finish, nil
	}
	cronJob, err := h.owner(ctx, job)
	if err != nil || cronJob == nil || cronJob.Spec.ConcurrencyPolicy != batchv1.ForbidConcurrent {
		return finish, err
	}
	h.mu.Lock()
	blocker, err := h.blocker(ctx, cronJob)
	if err != nil {
		h.mu.Unlock()
		return finish, err
	}
	if blocker != nil {
		cronjob.SuspendRun(job, time.Now())
	}
	return func(_ context.Context, created bool) {
		h.mu.Unlock()
		if created && blocker != nil {
			warning.AddWarning(ctx, "", fmt.Sprintf("Job %s waits, suspended, until Job %s has ended: the concurrencyPolicy of CronJob %s is Forbid",
				job.Name, blocker.Name, cronJob.Name))
		}
	}, nil
}

// owner returns the CronJob that controls a Job, or nil.
func (h *cronJobHold) owner(ctx context.Context, job *batchv1.Job) (*batchv1.CronJob, error) {
	ref := metav1.GetControllerOfNoCopy(job)
	if ref == nil || ref.Kind != cronjob.Kind.Kind || ref.APIVersion != cronjob.Kind.GroupVersion().String() {
		return nil, nil
	}
	obj, err := h.cronJobs.Get(ctx, ref.Name, &metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if cronJob := obj.(*batchv1.CronJob); cronJob.UID == ref.UID {
		return cronJob, nil
	}
	return nil, nil
}

// blocker returns the run that a new run has to wait for, or nil.
func (h *cronJobHold) blocker(ctx context.Context, cronJob *batchv1.CronJob) (*batchv1.Job, error) {
	list, err := listAll[*batchv1.JobList](ctx, h.jobs)
	if err != nil {
		return nil, err
	}
	var runs []*batchv1.Job
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], cronJob) {
			runs = append(runs, &list.Items[i])
		}
	}
	return cronjob.Blocker(cronJob, runs), nil
}
