package clienttest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
	"github.com/stint-dev/stint/test/await"
)

// WithVanishingJobs returns c with Jobs that are deleted as soon as they are created, and their number. The informer has
// seen both before the creation returns.
func WithVanishingJobs(t *testing.T, c client.Interface) (_ client.Interface, created *atomic.Int32) {
	jobs := &vanishingJobs{Resource: c.Jobs(), t: t}
	return withJobs{c, jobs}, &jobs.created
}

type withJobs struct {
	client.Interface
	jobs client.Resource[*batchv1.Job]
}

func (c withJobs) Jobs() client.Resource[*batchv1.Job] { return c.jobs }

type vanishingJobs struct {
	client.Resource[*batchv1.Job]
	t       *testing.T
	created atomic.Int32
}

func (v *vanishingJobs) Create(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	made, err := v.Resource.Create(ctx, job)
	if err != nil {
		return nil, err
	}
	v.created.Add(1)
	v.untilCached(made, true)
	if err := v.Delete(ctx, made, client.DeleteOptions{Propagation: metav1.DeletePropagationBackground}); err != nil {
		return nil, err
	}
	v.untilCached(made, false)
	return made, nil
}

func (v *vanishingJobs) untilCached(job *batchv1.Job, want bool) {
	await.Until(v.t, fmt.Sprintf("cached: %t", want), func() bool {
		return (loop.Cached[*batchv1.Job](v.Informer(), loop.Key(job)) != nil) == want
	})
}
