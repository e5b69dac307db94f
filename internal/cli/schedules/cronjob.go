package schedules

import (
	"context"
	"fmt"
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cronjob"
	jobcore "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/scheduledjob"
)

// instantiate is the annotation of Jobs that a user has created from a CronJob; kubectl create job --from sets it, too.
const instantiate = "cronjob.kubernetes.io/instantiate"

// runCronJob creates the Job of a run.
func (c *Clients) runCronJob(ctx context.Context, owner *batchv1.CronJob, r Request) (Run, error) {
	job, err := jobFrom(owner, r)
	if err != nil {
		return Run{}, err
	}
	run := Run{Namespace: c.namespace, Kind: CronJob, Name: owner.Name, Tag: r.Tag, Job: job.Name}
	created, err := c.batch.Jobs(c.namespace).Create(ctx, job, metav1.CreateOptions{FieldManager: fieldManager})
	if apierrors.IsAlreadyExists(err) {
		run.Again = true
		created, err = c.sameRun(ctx, owner, job.Name, r)
	}
	if err != nil {
		return Run{}, refused(err)
	}
	run.job = created
	run.WaitsFor = c.blockers(ctx, owner, created)
	return run, nil
}

// blockers returns the runs that a held run waits for. Their names are left out if the Jobs cannot be listed.
func (c *Clients) blockers(ctx context.Context, owner *batchv1.CronJob, job *batchv1.Job) []string {
	if !jobcore.IsHeld(job) {
		return nil
	}
	list, err := c.batch.Jobs(c.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return []string{"other runs"}
	}
	var others []*batchv1.Job
	for i := range list.Items {
		if other := &list.Items[i]; other.UID != job.UID && metav1.IsControlledBy(other, owner) {
			others = append(others, other)
		}
	}
	if blocker := cronjob.Blocker(owner, others); blocker != nil {
		return []string{"job " + blocker.Name}
	}
	return nil
}

// sameRun returns the existing Job of a run if the request is the same.
func (c *Clients) sameRun(ctx context.Context, owner *batchv1.CronJob, name string, r Request) (*batchv1.Job, error) {
	job, err := c.batch.Jobs(c.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if !metav1.IsControlledBy(job, owner) {
		return nil, inputErrorf("there is a job %s already that is no run of cronjob %s: choose another --tag", name, owner.Name)
	}
	changed := job.Spec.Template.DeepCopy()
	if err := scheduledjob.Override(changed, r.Overrides); err != nil || !equality.Semantic.DeepEqual(changed, &job.Spec.Template) {
		return nil, inputErrorf("cronjob %s has another run %s, with other overrides: choose another --tag", owner.Name, r.Tag)
	}
	return job, nil
}

// jobFrom returns the Job that kubectl create job --from would create, with the overrides.
func jobFrom(owner *batchv1.CronJob, r Request) (*batchv1.Job, error) {
	template := owner.Spec.JobTemplate.DeepCopy()
	name := scheduledjob.JobName(owner.Name, r.Tag)
	if len(name) > validation.DNS1123LabelMaxLength {
		return nil, inputErrorf("the job would be called %s, which is %d characters long: choose a --tag of at most %d",
			name, len(name), validation.DNS1123LabelMaxLength-len(owner.Name)-1)
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: template.Labels, Annotations: maps.Clone(template.Annotations),
		// blockOwnerDeletion would need the right to update the finalizers of the CronJob.
		OwnerReferences: []metav1.OwnerReference{{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "CronJob",
			Name: owner.Name, UID: owner.UID, Controller: ptr.To(true)}},
	}, Spec: template.Spec}
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, instantiate, "manual")
	if r.Overrides == nil {
		return job, nil
	}
	if err := scheduledjob.Override(&job.Spec.Template, r.Overrides); err != nil {
		return nil, InputError{fmt.Errorf("cronjob %s: %w", owner.Name, err)}
	}
	return job, nil
}
