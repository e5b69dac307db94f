package run

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/output"
)

// createSupport creates the objects that are not Jobs.
func (s *submitter) createSupport(ctx context.Context, objects []*manifest.Object) error {
	for _, o := range supportInOrder(objects) {
		if err := s.put(ctx, o, o.Typed.GetNamespace(), false); err != nil {
			return fmt.Errorf("apply %s %s: %w", o.GVK.Kind, o.Name(), err)
		}
	}
	return nil
}

// replace deletes existing Jobs of the same names. It does so for all before any Job is created, so that the finished Job of an
// earlier run does not meet a dependency.
func (s *submitter) replace(ctx context.Context, plans []*plan) error {
	return inParallel(len(plans), func(i int) error {
		p := plans[i]
		if p.existing == nil || p.how == output.Followed {
			return nil
		}
		if err := s.deleteAndWait(ctx, p.existing); err != nil {
			return fmt.Errorf("create job %s: %w", p.object.Name(), err)
		}
		return nil
	})
}

// createJobs creates the Jobs, all that it can even if one fails, and calls track for each.
func (s *submitter) createJobs(ctx context.Context, plans []*plan, track func(job *batchv1.Job, how output.How, order int)) error {
	plans = inOrder(plans)
	return inParallel(len(plans), func(i int) error {
		p := plans[i]
		job, err := s.createJob(ctx, p)
		if err != nil {
			return fmt.Errorf("create job %s: %w", p.object.Name(), err)
		}
		track(job, p.how, p.order)
		return nil
	})
}

func (s *submitter) createJob(ctx context.Context, p *plan) (*batchv1.Job, error) {
	if p.how == output.Followed {
		return p.existing, nil
	}
	return s.batch().Jobs(p.job.Namespace).Create(ctx, p.job, metav1.CreateOptions{FieldManager: fieldManager})
}

// deleteAndWait deletes a Job and waits until its name is free.
func (s *submitter) deleteAndWait(ctx context.Context, old *batchv1.Job) error {
	jobs := s.batch().Jobs(old.Namespace)
	if old.DeletionTimestamp == nil {
		err := jobs.Delete(ctx, old.Name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground),
			Preconditions: &metav1.Preconditions{UID: &old.UID}})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete the finished one: %w", err)
		}
	}
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		now, err := jobs.Get(ctx, old.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return err == nil && now.UID != old.UID, err
	})
}
