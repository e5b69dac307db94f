package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// maxDrift is by how much the end of a long load may be slower than its start.
const maxDrift = 0.05

// judgeSteady judges whether the last stretch of a long load is as fast as the first. The CPU time shows it on a busy machine,
// too.
func (b *bench) judgeSteady(load string, stretches []result) {
	first, last := stretches[0], stretches[len(stretches)-1]
	b.judgeBeside(load+", CPU ms of the server a pod", last.serverEach(), first.serverEach(), atMost(1+maxDrift))
	b.judgeBeside(load+", pods/s", last.rate(), first.rate(), atLeast(1-maxDrift))
}

// tenths are the lines of a Job's progress, one for each tenth of its pods.
type tenths struct {
	server *serverProcess
	clock  *stopwatch
	table  *table
	pods   int
	done   int
	all    []result
	err    error
}

// warmUp is so many pods that terminated ones are deleted from then on, as in all of a long load.
const warmUp = 1000

// largeJob shows whether a Job of many indexes becomes slower or larger as it goes on.
func (b *bench) largeJob(ctx context.Context, s *serverProcess) error {
	if err := s.runJob(ctx, noopJob("warm-up", warmUp, memoryAtATime)); err != nil {
		return err
	}
	p := &tenths{server: s, clock: s.stopwatch(), pods: b.largePods,
		table: newTable(fmt.Sprintf("(j) a Job of %d indexes, %d at a time, by tenths", b.largePods, memoryAtATime),
			"done", "pods/s", "CPU ms/pod of the server", "of the host", "RssAnon MB", "live heap", "pods", "other objects", "status, bytes", "store MB")}
	job := noopJob("indexed", b.largePods, memoryAtATime)
	job.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
	p.clock.start()
	p.line(ctx, job, "", "", "")
	err := s.followJob(ctx, job, func(now *batchv1.Job) { p.see(ctx, now) })
	p.table.print()
	if err := errors.Join(err, p.err); err != nil {
		return err
	}
	b.judgeSteady(fmt.Sprintf("the last tenth of %d indexes, beside the first", b.largePods), p.all)
	return nil
}

// see adds a line once another tenth has succeeded.
func (p *tenths) see(ctx context.Context, job *batchv1.Job) {
	done := int(job.Status.Succeeded)
	if p.err != nil || done == p.done || done < (len(p.all)+1)*p.pods/10 {
		return
	}
	r := p.clock.stop()
	r.things = done - p.done
	p.clock.start()
	p.done, p.all = done, append(p.all, r)
	p.line(ctx, job, r.rate(), r.serverEach(), r.hostEach())
}

// line adds a line. What it reads takes CPU time as well, and is part of the next tenth.
func (p *tenths) line(ctx context.Context, job *batchv1.Job, speed ...any) {
	now, err := p.server.footprint(ctx)
	n, countErr := p.server.stored(ctx)
	status, jsonErr := json.Marshal(job.Status)
	p.err = errors.Join(err, countErr, jsonErr)
	size := []any{now.anonymous, now.live, n.pods, n.others, len(status), now.database}
	p.table.line(slices.Concat([]any{fmt.Sprintf("%d %%", 100*p.done/p.pods)}, speed, size)...)
}

// manyRounds shows whether a server becomes slower or larger when Jobs come and go. A first round, which warms up, is not shown.
func (b *bench) manyRounds(ctx context.Context, s *serverProcess) error {
	t := newTable(fmt.Sprintf("(j) %d rounds: a Job of %d pods, which is deleted", b.rounds, b.roundPods),
		"round", "pods/s", "CPU ms/pod of the server", "of the host", "RssAnon MB", "live heap", "store MB")
	var all []result
	for i := range b.rounds + 1 {
		r, err := s.round(ctx, i, b.roundPods)
		if err != nil {
			return err
		}
		now, err := s.footprint(ctx)
		if err != nil {
			return err
		}
		if i > 0 {
			all = append(all, r)
			t.line(i, r.rate(), r.serverEach(), r.hostEach(), now.anonymous, now.live, now.database)
		}
	}
	t.print()
	b.judgeSteady(fmt.Sprintf("the last of %d rounds, beside the first", b.rounds), all)
	return nil
}

func (s *serverProcess) round(ctx context.Context, number, pods int) (result, error) {
	clock := s.stopwatch()
	clock.start()
	err := s.runAndDelete(ctx, fmt.Sprint("round-", number), pods)
	r := clock.stop()
	r.things = pods
	return r, err
}
