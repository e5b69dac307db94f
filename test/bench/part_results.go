package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// keptResults is part h.
func (b *bench) keptResults(ctx context.Context) error {
	t := newTable("(h) with results kept, beside none (--max-results=0), on a node that runs nothing",
		"", "a second", "CPU ms", "API writes", "speed ×", "CPU ×", "writes +")
	pods, jobs := max(1, b.pods/2), max(1, b.jobs/2)
	loads := []struct {
		name                string
		jobs, pods, atATime int
	}{
		{fmt.Sprintf("%d pods, 8 at a time", pods), 1, pods, 8},
		{fmt.Sprintf("%d pods, 100 at a time", pods), 1, pods, 100},
		{fmt.Sprintf("%d Jobs of one pod", jobs), jobs, 1, 1},
	}
	for _, l := range loads {
		with, without, err := b.byTurns(func() (result, error) {
			r, err := b.oneRun(ctx, false, l.jobs, l.pods, l.atATime)
			r.things = l.jobs * l.pods
			return r, err
		})
		if err != nil {
			return err
		}
		ratio := func(f func(result) float64) float64 { return medianOf(with, f) / medianOf(without, f) }
		t.line(l.name, medianOf(with, result.rate), medianOf(with, result.cpuEach), medianOf(with, result.writesEach),
			ratio(result.rate), ratio(result.cpuEach), medianOf(with, result.writesEach)-medianOf(without, result.writesEach))
	}
	t.print()
	return b.sizeOfResults(ctx)
}

// byTurns measures with results and without by turns, since the speed of a shared machine drifts.
func (b *bench) byTurns(measure func() (result, error)) (with, without []result, err error) {
	defer func() { b.maxResults = nil }()
	for range b.runs {
		b.maxResults = nil
		r, err := measure()
		if err != nil {
			return nil, nil, err
		}
		with = append(with, r)
		b.maxResults = ptr.To(0)
		if r, err = measure(); err != nil {
			return nil, nil, err
		}
		without = append(without, r)
	}
	return with, without, nil
}

// sizeOfResults measures how large the results of one large Job are, and how long it takes to read them.
func (b *bench) sizeOfResults(ctx context.Context) (err error) {
	c, err := b.start(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	wait, err := c.finished(ctx, 1)
	if err != nil {
		return err
	}
	job := noopJob("indexed", b.indexes, 256)
	job.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
	if _, err := c.Jobs().Create(ctx, job); err != nil {
		return err
	}
	if err := wait(); err != nil {
		return err
	}
	kept, err := c.sliceSizes(ctx)
	if err != nil {
		return err
	}
	t := newTable(fmt.Sprintf("(h) what a Job of %d indexes leaves", b.indexes),
		"", "slices", "MB", "bytes an index", "read in ms", "MB allocated", "MB read")
	read, err := c.readResults(ctx, job)
	if err != nil {
		return err
	}
	t.line("", kept.n, kept.bytes/1e6, kept.bytes/float64(b.indexes), read.ms, read.allocated/1e6, read.bytes/1e6)
	t.print()
	return nil
}

// kept is the number of results that are stored, and their size.
type kept struct {
	n     int
	bytes float64
}

func (c *cluster) sliceSizes(ctx context.Context) (k kept, err error) {
	_, listErr := c.ResultSlices().List(ctx, namespace, labels.Everything(), func(s *stintv1.ResultSlice) {
		text, e := json.Marshal(s)
		err = errors.Join(err, e)
		k.n, k.bytes = k.n+1, k.bytes+float64(len(text))
	})
	return k, errors.Join(listErr, err)
}

// reading is what one request for all results of a Job costs.
type reading struct{ ms, allocated, bytes float64 }

func (c *cluster) readResults(ctx context.Context, job *batchv1.Job) (r reading, err error) {
	set, err := kubernetes.NewForConfig(c.rest)
	if err != nil {
		return r, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	text, err := set.BatchV1().RESTClient().Get().Namespace(job.Namespace).Resource("jobs").Name(job.Name).SubResource("results").Do(ctx).Raw()
	r.ms = float64(time.Since(began).Microseconds()) / 1000
	runtime.ReadMemStats(&after)
	r.allocated, r.bytes = float64(after.TotalAlloc-before.TotalAlloc), float64(len(text))
	return r, err
}
