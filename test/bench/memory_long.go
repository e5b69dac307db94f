package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// lastOfFirst is what the rate at the end of a long load is to be, of the rate at its start.
const lastOfFirst = 0.8

// tenths are the lines of a Job's progress, one for each tenth of its pods.
type tenths struct {
	server *serverProcess
	table  *table
	all    int
	since  time.Time
	done   int
	rates  []float64
	err    error
}

// largeJob shows whether a Job of very many indexes becomes slower or larger as it goes on.
func (b *bench) largeJob(ctx context.Context, program string) error {
	_, err := b.onServer(ctx, program, func(s *serverProcess) error {
		p := &tenths{server: s, all: b.longIndexes, since: time.Now(),
			table: newTable(fmt.Sprintf("(j) a Job of %d indexes, %d at a time", b.longIndexes, memoryAtATime),
				"done", "RssAnon MB", "live heap", "pods", "other objects", "pods/s of this tenth", "status, bytes", "store MB")}
		job := noopJob("indexed", b.longIndexes, memoryAtATime)
		job.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
		err := s.followJob(ctx, job, func(now *batchv1.Job) { p.see(ctx, now) })
		p.table.print()
		if err := errors.Join(err, p.err); err != nil {
			return err
		}
		b.judge("a very large Job: rate of the last tenth, of the first", p.rates[len(p.rates)-1]/p.rates[0], atLeast(lastOfFirst))
		_, _, err = b.atRest(ctx, s, "a very large Job")
		return err
	})
	return err
}

// see adds a line once another tenth has succeeded.
func (p *tenths) see(ctx context.Context, job *batchv1.Job) {
	done := int(job.Status.Succeeded)
	if p.err != nil || done == p.done || done < (len(p.rates)+1)*p.all/10 {
		return
	}
	rate := float64(done-p.done) / time.Since(p.since).Seconds()
	p.since, p.done, p.rates = time.Now(), done, append(p.rates, rate)
	now, err := p.server.footprint(ctx)
	n, countErr := p.server.stored(ctx)
	status, jsonErr := json.Marshal(job.Status)
	p.err = errors.Join(err, countErr, jsonErr)
	p.table.line(fmt.Sprintf("%d %%", 100*done/p.all), now.anonymous, now.live, n.pods, n.others, rate, len(status), now.database)
}

// manyRounds shows whether a server becomes slower or larger when Jobs come and go.
func (b *bench) manyRounds(ctx context.Context, program string) error {
	const pods = 10000
	_, err := b.onServer(ctx, program, func(s *serverProcess) error {
		t := newTable(fmt.Sprintf("(j) %d rounds: a Job of %d pods, which is deleted", b.rounds, pods),
			"round", "RssAnon MB", "live heap", "pods/s", "store MB")
		defer t.print()
		var first, last float64
		for i := range b.rounds {
			began := time.Now()
			if err := s.runAndDelete(ctx, fmt.Sprint("round-", i), pods); err != nil {
				return err
			}
			last = pods / time.Since(began).Seconds()
			if i == 0 {
				first = last
			}
			now, err := s.footprint(ctx)
			if err != nil {
				return err
			}
			t.line(i+1, now.anonymous, now.live, last, now.database)
		}
		b.judge("many rounds: rate of the last, of the first", last/first, atLeast(lastOfFirst))
		_, _, err := b.atRest(ctx, s, "many rounds")
		return err
	})
	return err
}
