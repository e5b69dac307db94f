package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/internal/server"
)

// deletion is part e. A run deletes so many pods that one is enough.
func (b *bench) deletion(ctx context.Context) error {
	t := newTable(fmt.Sprintf("(e) deleting a Job with %d finished pods", b.finished),
		"cascade", "pods/s", "CPU ms/pod", "API writes/pod", "a lone Job meanwhile ms", "p90", "when quiet")
	for _, how := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		r, err := b.oneDeletion(ctx, how)
		if err != nil {
			return err
		}
		b.judge(fmt.Sprintf("pods deleted a second, %s", how), r.rate(), atLeast(4000))
		b.judge(fmt.Sprintf("ms of a lone Job meanwhile, %s", how), percentile(r.meanwhile, 50), atMost(100))
		t.line(how, r.rate(), r.cpuEach(), r.writesEach(), percentile(r.meanwhile, 50), percentile(r.meanwhile, 90), percentile(r.quiet, 50))
	}
	t.print()
	return nil
}

// deletionResult is a result with the latencies of Jobs of one pod, in milliseconds: before the deletion and during it.
type deletionResult struct {
	result
	quiet, meanwhile []float64
}

func (b *bench) oneDeletion(ctx context.Context, how metav1.DeletionPropagation) (r deletionResult, err error) {
	// All finished pods are kept: by default there would be a thousand.
	c, err := b.startWith(ctx, server.Options{TerminatedPodGCThreshold: new(int), Job: job.Options{ConcurrentSyncs: b.syncs}})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	large, err := c.largeFinishedJob(ctx, b.finished)
	if err != nil {
		return r, err
	}
	if r.quiet, err = c.loneJobs(ctx, "quiet", loneJobs); err != nil {
		return r, err
	}
	gone, err := c.podsGone(b.finished)
	if err != nil {
		return r, err
	}
	meanwhile, end := context.WithCancel(ctx)
	defer end()
	var running sync.WaitGroup
	var loneErr error
	r.result, err = c.during(ctx, b.finished, func() error {
		if err := c.Jobs().Delete(ctx, large, client.DeleteOptions{Propagation: how}); err != nil {
			return err
		}
		running.Go(func() { r.meanwhile, loneErr = c.loneJobs(meanwhile, "meanwhile", math.MaxInt) })
		select {
		case <-gone:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	end()
	running.Wait()
	if loneErr != nil && !errors.Is(loneErr, context.Canceled) {
		err = errors.Join(err, loneErr)
	}
	return r, err
}

// largeFinishedJob returns a Job after all its pods have succeeded.
func (c *cluster) largeFinishedJob(ctx context.Context, pods int) (*batchv1.Job, error) {
	wait, err := c.finished(ctx, 1)
	if err != nil {
		return nil, err
	}
	large, err := c.Jobs().Create(ctx, noopJob("finished", pods, 256))
	if err != nil {
		return nil, err
	}
	return large, wait()
}

// betweenLoneJobs is a pause, so that lone Jobs are a small part of the load.
const betweenLoneJobs = 100 * time.Millisecond

// loneJobs runs n Jobs of one pod, one after the other, and returns the milliseconds that each took.
func (c *cluster) loneJobs(ctx context.Context, name string, n int) (all []float64, err error) {
	for len(all) < n {
		took, err := c.loneJob(ctx, fmt.Sprint(name, "-", len(all)))
		if err != nil {
			return all, err
		}
		all = append(all, milliseconds(took))
		if err := pause(ctx, betweenLoneJobs); err != nil {
			return all, err
		}
	}
	return all, nil
}

func (c *cluster) loneJob(ctx context.Context, name string) (took time.Duration, err error) {
	wait, err := c.finishedAmong(ctx, 1, func(job string) bool { return job == name })
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if _, err := c.Jobs().Create(ctx, noopJob(name, 1, 1)); err != nil {
		return 0, err
	}
	err = wait()
	return time.Since(began), err
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
