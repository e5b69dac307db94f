package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

const (
	// idleAim is what a server that has nothing to do may take, in MB.
	idleAim = 30
	// restAfter is how long a server is left alone after a load.
	restAfter = 30 * time.Second
)

// memory is part j: what one server process takes, at rest and under loads of real processes.
func (b *bench) memory(ctx context.Context) error {
	program, err := stintBinary(b.stint)
	if err != nil {
		fmt.Printf("\n(j) left out: %v\n", err)
		return nil
	}
	t := newTable("(j) RssAnon of one server, MB", "", "peak", "live heap", "at the end", "30 s after", "live heap", "pods", "other objects", "store MB")
	for _, l := range b.memoryLoads() {
		if err := b.oneMemoryLoad(ctx, t, program, l); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		if b.against == "" {
			continue
		}
		figures := b.figures // those of the other binary are shown, not judged
		l.name += " (-against)"
		err := b.oneMemoryLoad(ctx, t, b.against, l)
		b.figures = figures
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	t.print()
	if b.long {
		return errors.Join(b.largeJob(ctx, program), b.manyRounds(ctx, program))
	}
	return nil
}

// onServer starts a server on a new data directory for the time of one measurement.
func (b *bench) onServer(ctx context.Context, program string, measure func(*serverProcess) error) (err error) {
	dir, err := os.MkdirTemp(b.dir, "memory-")
	if err != nil {
		return err
	}
	s, err := startServer(ctx, program, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop(), os.RemoveAll(dir)) }()
	if err := pause(ctx, idleFor); err != nil {
		return err
	}
	return measure(s)
}

func (b *bench) oneMemoryLoad(ctx context.Context, t *table, program string, l memoryLoad) error {
	return b.onServer(ctx, program, func(s *serverProcess) error {
		if l.run == nil {
			idle, err := s.footprint(ctx)
			b.judge(l.name+", MB", idle.anonymous, atMost(idleAim))
			t.line(l.name, "", "", idle.anonymous, "", idle.live, "", "", idle.database)
			return err
		}
		stop := s.followMemory(ctx)
		err := l.run(ctx, s)
		most, followErr := stop()
		if err := errors.Join(err, followErr); err != nil {
			return err
		}
		end := memoryOf(s.cmd.Process.Pid).anonymous
		b.judge(l.name+": peak, MB", most.anonymous, most.underLoadAim())
		rest, n, err := b.atRest(ctx, s, l.name)
		t.line(l.name, most.anonymous, most.live, end, rest.anonymous, rest.live, n.pods, n.others, rest.database)
		return err
	})
}

// atRest judges what the server takes half a minute after a load, and returns it with what is stored then.
func (b *bench) atRest(ctx context.Context, s *serverProcess, load string) (f footprint, n stored, err error) {
	if err := pause(ctx, restAfter); err != nil {
		return f, n, err
	}
	if f, err = s.footprint(ctx); err != nil {
		return f, n, err
	}
	n, err = s.stored(ctx)
	b.judge(load+": 30 s after, MB", f.anonymous, n.atRestAim())
	return f, n, err
}
