package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/rest"

	stintcluster "github.com/stint-dev/stint/internal/cluster"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/internal/server"
)

const (
	// smokePods are few enough that all of them stay stored.
	smokePods    = 1000
	smokeAtATime = 250
	// smokeBatch is so long that the number of writes of the Job's status hardly depends on how fast the machine is.
	smokeBatch = 500 * time.Millisecond
)

// smokeResult is what the same load takes on every machine.
type smokeResult struct {
	// objects, kilobytes and writes are those of one pod, from the creation of its Job to the Job's end.
	objects, kilobytes, writes float64
	// heapPerPod is how many KB the live heap has grown by for each pod, which is then stored.
	heapPerPod float64
	// idleHeap and store are in MB.
	idleHeap, store float64
	// requests are those of stint controller for one pod, without watches.
	requests float64
}

// smoke fails where a figure is above its bound.
func (b *bench) smoke(ctx context.Context) error {
	r, err := b.smokeServer(ctx, smokePods)
	if err != nil {
		return err
	}
	if r.requests, err = b.smokeController(ctx, smokePods); err != nil {
		return err
	}
	return b.judgeSmoke(r)
}

// judgeSmoke is the one verdict of this program that is an error.
func (b *bench) judgeSmoke(r smokeResult) error {
	var errs []error
	for _, f := range smokeBounds {
		measured := f.of(r)
		b.judge(f.what, measured, atMost(f.bound))
		if measured > f.bound {
			errs = append(errs, fmt.Errorf("%s: %s is above the bound of %s (test/bench/smoke_bounds.go)", f.what, short(measured), short(f.bound)))
		}
	}
	return errors.Join(errs...)
}

// smokeServer runs one Job on a server in this process, with a node that runs nothing.
func (b *bench) smokeServer(ctx context.Context, pods int) (r smokeResult, err error) {
	c, err := b.startWith(ctx, server.Options{Job: job.Options{SyncBatchPeriod: smokeBatch}})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(c.dir)) }()
	r.idleHeap = heapInUse()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work, err := c.smokeJob(ctx, pods)
	if err != nil {
		return r, errors.Join(err, c.end())
	}
	runtime.ReadMemStats(&after)
	r.objects = float64(after.Mallocs-before.Mallocs) / float64(pods)
	r.kilobytes = float64(after.TotalAlloc-before.TotalAlloc) / 1e3 / float64(pods)
	r.writes = work.writesEach()
	r.heapPerPod = (heapInUse() - r.idleHeap) * 1e3 / float64(pods)
	if err := c.end(); err != nil {
		return r, err
	}
	r.store, err = storeInUse(c.dir)
	return r, err
}

// smokeJob runs one Job to its end.
func (c *cluster) smokeJob(ctx context.Context, pods int) (result, error) {
	wait, err := c.finished(ctx, 1)
	if err != nil {
		return result{}, err
	}
	return c.during(ctx, pods, func() error {
		if _, err := c.Jobs().Create(ctx, noopJob("smoke", pods, smokeAtATime)); err != nil {
			return err
		}
		return wait()
	})
}

// heapInUse is what is reachable, in MB. A second collection frees what finalizers of the first have released.
func heapInUse() float64 {
	runtime.GC()
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return float64(now.HeapAlloc) / 1e6
}

// storeInUse is the part of a stopped server's database that is in use, in MB.
func storeInUse(dir string) (mb float64, err error) {
	db, err := bbolt.Open(filepath.Join(dir, "etcd", "member", "snap", "db"), 0o600, &bbolt.Options{ReadOnly: true, PreLoadFreelist: true})
	if err != nil {
		return 0, fmt.Errorf("open the database: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = db.View(func(tx *bbolt.Tx) error {
		stats := db.Stats()
		free := int64(stats.FreePageN+stats.PendingPageN) * int64(db.Info().PageSize)
		mb = float64(tx.Size()-free) / 1e6
		return nil
	})
	return mb, err
}

// smokeController runs one Job by the controllers of a cluster, and returns how many requests a pod takes.
func (b *bench) smokeController(ctx context.Context, pods int) (each float64, err error) {
	c, err := b.startWith(ctx, server.Options{Controllers: []string{"garbage-collector"}})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	var sent atomic.Int64
	config := rest.CopyConfig(c.rest)
	config.QPS = -1
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counting{next, &sent} })
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() {
		stopped <- stintcluster.Run(ctx, stintcluster.Options{Config: config, Controllers: []string{"job"},
			Job: job.Options{ManagedBy: []string{batchv1.JobControllerName}, SyncBatchPeriod: smokeBatch}})
	}()
	_, err = c.smokeJob(ctx, pods)
	cancel()
	return float64(sent.Load()) / float64(pods), errors.Join(err, <-stopped)
}

// counting counts the requests that change something.
type counting struct {
	http.RoundTripper
	sent *atomic.Int64
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		c.sent.Add(1)
	}
	return c.RoundTripper.RoundTrip(r)
}
