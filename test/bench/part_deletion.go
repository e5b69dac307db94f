package main

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
)

// deletion is part e.
func (b *bench) deletion(ctx context.Context) error {
	t := newTable(fmt.Sprintf("(e) deleting a Job with %d finished pods", b.finished),
		"cascade", "pods/s", "CPU ms/pod", "API writes/pod")
	for _, how := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		all, err := repeat(b.runs, func() (result, error) { return b.oneDeletion(ctx, how) })
		if err != nil {
			return err
		}
		b.judge(fmt.Sprintf("pods deleted a second, %s", how), medianOf(all, result.rate), atLeast(4000))
		t.line(how, medianOf(all, result.rate), medianOf(all, result.cpuEach), medianOf(all, result.writesEach))
	}
	t.print()
	return nil
}

func (b *bench) oneDeletion(ctx context.Context, how metav1.DeletionPropagation) (r result, err error) {
	c, err := b.start(ctx, false)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	wait, err := c.finished(ctx, 1)
	if err != nil {
		return r, err
	}
	job, err := c.Jobs().Create(ctx, noopJob("finished", b.finished, 256))
	if err != nil {
		return r, err
	}
	if err := wait(); err != nil {
		return r, err
	}
	gone, err := c.podsGone(b.finished)
	if err != nil {
		return r, err
	}
	return c.during(ctx, b.finished, func() error {
		if err := c.Jobs().Delete(ctx, job, client.DeleteOptions{Propagation: how}); err != nil {
			return err
		}
		select {
		case <-gone:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// podsGone is closed when n pods have been deleted.
func (c *cluster) podsGone(n int) (<-chan struct{}, error) {
	gone := make(chan struct{})
	seen := 0 // a handler is called by one goroutine
	_, err := c.Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) {
		if seen++; seen == n {
			close(gone)
		}
	}})
	return gone, err
}
