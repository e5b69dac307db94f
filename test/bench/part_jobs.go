package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// processes is part a.
func (b *bench) processes(ctx context.Context) error {
	t := newTable(fmt.Sprintf("(a) %d pods of %v as processes", b.pods, noop),
		"", "at a time", "pods/s", "stint is × as fast", "CPU ms/pod", "of it host", "of it commands", "API writes/pod", "of them events")
	others := baselines()
	for _, atATime := range b.atATime {
		stint := &way{name: "stint", run: func() (result, error) { return b.oneJob(ctx, true, atATime) }}
		ways := []*way{stint}
		for _, other := range others {
			ways = append(ways, &way{name: other.name, run: func() (result, error) { return b.baseline(ctx, other, atATime) }})
		}
		if err := byTurns(b.runs, ways); err != nil {
			return err
		}
		own := stint.all
		rate, host := medianOf(own, result.rate), medianOf(own, result.hostEach)
		t.line(stint.name, atATime, rate, "", medianOf(own, result.cpuEach), host, medianOf(own, result.commandsEach),
			medianOf(own, result.writesEach), medianOf(own, result.eventsEach))
		for _, other := range ways[1:] {
			theirs := medianOf(other.all, result.rate)
			t.line(other.name, atATime, theirs, rate/theirs, medianOf(other.all, result.cpuEach), "", "", "", "")
			if other.name == xargs {
				b.judgeBeside(fmt.Sprintf("pods/s at %d at a time, beside %s", atATime, xargs), rate, theirs, atLeast(0.8))
			}
		}
		b.judge(fmt.Sprintf("CPU ms of the server a pod, at %d", atATime), medianOf(own, result.serverEach), atMost(1))
		b.judge(fmt.Sprintf("CPU ms of the host a pod, at %d", atATime), host, atMost(0.35))
	}
	t.print()
	return nil
}

// controlPlane is part b.
func (b *bench) controlPlane(ctx context.Context) error {
	t := newTable(fmt.Sprintf("(b) %d pods on a node that runs nothing", b.pods),
		"", "at a time", "pods/s", "CPU ms/pod", "API writes/pod", "of them events")
	var best float64
	for _, atATime := range b.atATime {
		all, err := repeat(b.runs, func() (result, error) { return b.oneJob(ctx, false, atATime) })
		if err != nil {
			return err
		}
		rate := medianOf(all, result.rate)
		best = max(best, rate)
		t.line("stint", atATime, rate, medianOf(all, result.cpuEach), medianOf(all, result.writesEach), medianOf(all, result.eventsEach))
	}
	t.print()
	b.judge("pods/s", best, atLeast(1800))
	return nil
}

// manyJobs is part c.
func (b *bench) manyJobs(ctx context.Context) error {
	all, err := repeat(b.runs, func() (result, error) { return b.oneRun(ctx, false, b.jobs, 1, 1) })
	if err != nil {
		return err
	}
	t := newTable(fmt.Sprintf("(c) %d Jobs of one pod each on a node that runs nothing", b.jobs),
		"", "Jobs/s", "CPU ms/Job", "API writes/Job", "of them events")
	rate := medianOf(all, result.rate)
	t.line("stint", rate, medianOf(all, result.cpuEach), medianOf(all, result.writesEach), medianOf(all, result.eventsEach))
	t.print()
	b.judge("Jobs of one pod a second", rate, atLeast(400))
	return nil
}

func (b *bench) oneJob(ctx context.Context, realNode bool, atATime int) (result, error) {
	r, err := b.oneRun(ctx, realNode, 1, b.pods, atATime)
	r.things = b.pods
	return r, err
}

// oneRun measures Jobs from their creation to their end, on a server of its own.
func (b *bench) oneRun(ctx context.Context, realNode bool, jobs, pods, atATime int) (r result, err error) {
	c, err := b.start(ctx, realNode)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	wait, err := c.finished(ctx, jobs)
	if err != nil {
		return r, err
	}
	return c.during(ctx, jobs, func() error {
		if err := c.createJobs(ctx, jobs, pods, atATime); err != nil {
			return err
		}
		return wait()
	})
}

// creators is how many clients make Jobs at the same time.
const creators = 16

func (c *cluster) createJobs(ctx context.Context, jobs, pods, atATime int) error {
	return inParallel(jobs, creators, func(i int) error {
		_, err := c.Jobs().Create(ctx, noopJob(fmt.Sprint("noop-", i), pods, atATime))
		return err
	})
}

// inParallel calls do for every i below n, at most atATime calls at the same time, and returns the first error.
func inParallel(n, atATime int, do func(i int) error) error {
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	errs := make(chan error, atATime)
	var running sync.WaitGroup
	for range min(atATime, n) {
		running.Go(func() {
			for i := range next {
				if err := do(i); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	running.Wait()
	close(errs)
	return <-errs
}

func (b *bench) baseline(ctx context.Context, other baseline, atATime int) (result, error) {
	clock := newStopwatch()
	clock.start()
	err := other.run(ctx, b.pods, atATime)
	r := clock.stop()
	r.things = b.pods
	return r, err
}
