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

// stretch is a part of a long load, and how many KB the server has allocated for each of its pods.
type stretch struct {
	result
	allocated float64
}

// stretchOf is a stretch of so many pods, between two footprints of the server.
func stretchOf(r result, pods int, before, after footprint) stretch {
	r.things = pods
	return stretch{r, (after.allocated - before.allocated) * 1e3 / float64(pods)}
}

// speed are the cells of a table under speedHead.
func (s stretch) speed() []any {
	return []any{s.rate(), s.serverEach(), s.hostEach(), s.allocated}
}

var speedHead = []any{"pods/s", "CPU ms/pod of the server", "of the host", "KB/pod allocated"}

// judgeSteady judges whether the last stretch of a load is as fast as the first. Work beside it changes the rate much, CPU
// time less and allocations hardly.
func (b *bench) judgeSteady(load string, all []stretch) {
	first, last := all[0], all[len(all)-1]
	b.judgeBeside(load+": pods/s", last.rate(), first.rate(), atLeast(1-maxDrift))
	b.judgeBeside(load+": CPU ms of the server a pod", last.serverEach(), first.serverEach(), atMost(1+maxDrift))
	b.judgeBeside(load+": KB allocated a pod", last.allocated, first.allocated, atMost(1+maxDrift))
}

// tenths are the lines of a Job's progress after its first pods.
type tenths struct {
	server *serverProcess
	table  *table
	pods   int // all of the Job

	clock *stopwatch
	// first is how many pods had succeeded when the first tenth began; 0 is before that.
	first int
	done  int
	now   footprint
	all   []stretch
	err   error
}

// warmUp is so many pods that terminated ones are deleted from then on.
const warmUp = 1000

// largeJob shows whether a Job of many indexes becomes slower or larger as it goes on.
func (b *bench) largeJob(ctx context.Context, s *serverProcess) error {
	head := slices.Concat([]any{"done"}, speedHead, []any{"RssAnon MB", "live heap", "pods", "other objects", "status, bytes", "store MB"})
	p := &tenths{server: s, clock: s.stopwatch(), pods: warmUp + b.largePods,
		table: newTable(fmt.Sprintf("(j) the last %d indexes of a Job, %d at a time, by tenths", b.largePods, memoryAtATime), head...)}
	job := noopJob("indexed", p.pods, memoryAtATime)
	job.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
	err := s.followJob(ctx, job, func(now *batchv1.Job) { p.see(ctx, now) })
	p.table.print()
	if err := errors.Join(err, p.err); err != nil {
		return err
	}
	if len(p.all) < 2 {
		return fmt.Errorf("the Job ended before two tenths were seen: choose more pods with -large-pods than %d", b.largePods)
	}
	b.judgeSteady(fmt.Sprintf("%d indexes, last tenth beside first", b.largePods), p.all)
	return nil
}

// see adds a line once another tenth has succeeded.
func (p *tenths) see(ctx context.Context, job *batchv1.Job) {
	done := int(job.Status.Succeeded)
	if p.err != nil || done < p.next() {
		return
	}
	r, before := p.clock.stop(), p.now
	p.read(ctx)
	n, countErr := p.server.stored(ctx)
	status, err := json.Marshal(job.Status)
	p.err = errors.Join(p.err, countErr, err)
	if p.first == 0 {
		p.first = done
	} else {
		tenth := stretchOf(r, done-p.done, before, p.now)
		p.all = append(p.all, tenth)
		size := []any{p.now.anonymous, p.now.live, n.pods, n.others, len(status), p.now.database}
		p.table.line(slices.Concat([]any{fmt.Sprintf("%d %%", 100*done/p.pods)}, tenth.speed(), size)...)
	}
	p.done = done
}

// next is how many pods have succeeded at the end of this tenth.
func (p *tenths) next() int {
	if p.first == 0 {
		return warmUp
	}
	return max(p.done+1, p.first+(len(p.all)+1)*(p.pods-p.first)/10)
}

// read starts a tenth. To read the footprint takes CPU time as well, which so belongs to every tenth.
func (p *tenths) read(ctx context.Context) {
	p.clock.start()
	p.now, p.err = p.server.footprint(ctx)
}

// manyRounds shows whether a server becomes slower or larger when Jobs come and go. A first round, which warms up, is not shown.
func (b *bench) manyRounds(ctx context.Context, s *serverProcess) error {
	t := newTable(fmt.Sprintf("(j) %d rounds: a Job of %d pods, which is deleted", b.rounds, b.roundPods),
		slices.Concat([]any{"round"}, speedHead, []any{"RssAnon MB", "live heap", "store MB"})...)
	var all []stretch
	before, err := s.footprint(ctx)
	if err != nil {
		return err
	}
	for i := range b.rounds + 1 {
		clock := s.stopwatch()
		clock.start()
		if err := s.runAndDelete(ctx, fmt.Sprint("round-", i), b.roundPods); err != nil {
			return err
		}
		r := clock.stop()
		now, err := s.footprint(ctx)
		if err != nil {
			return err
		}
		if i > 0 {
			round := stretchOf(r, b.roundPods, before, now)
			all = append(all, round)
			t.line(slices.Concat([]any{i}, round.speed(), []any{now.anonymous, now.live, now.database})...)
		}
		before = now
	}
	t.print()
	b.judgeSteady(fmt.Sprintf("%d rounds, last beside first", b.rounds), all)
	return nil
}
