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
	t := newTable("(j) RssAnon of one server, MB", "", "peak", "live heap", "at the end", "30 s after", "live heap", "pods", "other objects", "store MB", "of it in use")
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
	return nil
}

// onServer starts a server on a new data directory for the time of one measurement. It returns how much of the store is in use
// at the end, in MB.
func (b *bench) onServer(ctx context.Context, program string, measure func(*serverProcess) error) (inUse float64, err error) {
	dir, err := os.MkdirTemp(b.dir, "memory-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := startServer(ctx, program, dir)
	if err != nil {
		return 0, err
	}
	err = pause(ctx, idleFor)
	if err == nil {
		err = measure(s)
	}
	if err := errors.Join(err, s.stop()); err != nil {
		return 0, err
	}
	return storeInUse(dir)
}

func (b *bench) oneMemoryLoad(ctx context.Context, t *table, program string, l memoryLoad) error {
	var line []any
	inUse, err := b.onServer(ctx, program, func(s *serverProcess) (err error) {
		if l.run == nil {
			line, err = b.idle(ctx, s)
		} else {
			line, err = b.loaded(ctx, s, l)
		}
		return err
	})
	if err != nil {
		return err
	}
	t.line(append(append([]any{l.name}, line...), inUse)...)
	return nil
}

func (b *bench) idle(ctx context.Context, s *serverProcess) (line []any, err error) {
	now, err := s.footprint(ctx)
	b.judge("idle, MB", now.anonymous, atMost(idleAim))
	return []any{"", "", now.anonymous, "", now.live, "", "", now.database}, err
}

func (b *bench) loaded(ctx context.Context, s *serverProcess, l memoryLoad) (line []any, err error) {
	stop := s.followMemory(ctx)
	err = l.run(ctx, s)
	most, followErr := stop()
	if err := errors.Join(err, followErr); err != nil {
		return nil, err
	}
	end := memoryOf(s.cmd.Process.Pid).anonymous
	b.judge(l.name+": peak, MB", most.anonymous, most.underLoadAim())
	rest, n, err := b.atRest(ctx, s, l.name)
	return []any{most.anonymous, most.live, end, rest.anonymous, rest.live, n.pods, n.others, rest.database}, err
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
