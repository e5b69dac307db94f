package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// idleFor is how long a server is left alone before its memory is read.
	idleFor = 5 * time.Second
	// runsOfOne is how often `stint run` is measured on each server.
	runsOfOne = 10
)

// binary is part d.
func (b *bench) binary(ctx context.Context) error {
	program, err := stintBinary(b.stint)
	if err != nil {
		fmt.Printf("\n(d) left out: %v\n", err)
		return nil
	}
	var ready []float64
	var all used
	for range b.runs {
		dir, err := os.MkdirTemp(b.dir, "binary-")
		if err != nil {
			return err
		}
		all.others = running(program)
		s, err := startServer(ctx, program, dir)
		if err != nil {
			return err
		}
		ready = append(ready, s.ready)
		if err := errors.Join(s.stop(), b.useServer(ctx, program, dir, &all)); err != nil {
			return err
		}
	}
	cold, err := b.stintRuns(ctx, program, "", runsOfOne)
	if err != nil {
		return err
	}
	t := newTable("(d) the binary", "", "p50", "p99")
	percentiles(t, "exec to ready, empty directory, s", ready)
	percentiles(t, "exec to ready, used directory, s", all.ready)
	memories(t, "server at rest", all.server)
	memories(t, "its process host", all.host)
	percentiles(t, "pod exit to status over a watch, ms", all.exits)
	percentiles(t, "a lone Job of one pod, from create to Complete, ms", all.jobs)
	percentiles(t, "stint run of one pod, no server, ms", cold)
	percentiles(t, "stint run of one pod, with a server, ms", all.stintRuns)
	t.print()
	b.judge("s to ready", percentile(all.ready, 50), atMost(0.5))
	b.judge("ms from exit to status, p99", percentile(all.exits, 99), atMost(10))
	b.judge("ms of a lone Job, p50", percentile(all.jobs, 50), atMost(25))
	b.judge("ms of stint run, no server, p50", percentile(cold, 50), atMost(250))
	b.judge("ms of stint run, with a server, p50", percentile(all.stintRuns, 50), atMost(60))
	return nil
}

func percentiles(t *table, what string, values []float64) {
	t.line(what, percentile(values, 50), percentile(values, 99))
}

// memories adds two lines on the memory of a process.
func memories(t *table, what string, all []memory) {
	var resident, anonymous []float64
	for _, m := range all {
		resident, anonymous = append(resident, m.resident), append(anonymous, m.anonymous)
	}
	percentiles(t, what+", resident, MB", resident)
	percentiles(t, "without the pages of the program, MB", anonymous)
}

// used is what servers on a directory that was used before gave.
type used struct {
	ready                  []float64 // seconds
	exits, jobs, stintRuns []float64 // milliseconds
	server, host           []memory
	// others are the processes of the same program that belong to earlier runs.
	others []int
}

// useServer starts a server, measures it and stops it again.
func (b *bench) useServer(ctx context.Context, program, dir string, u *used) (err error) {
	s, err := startServer(ctx, program, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	u.ready = append(u.ready, s.ready)
	if err := pause(ctx, idleFor); err != nil {
		return err
	}
	u.server, u.host = append(u.server, memoryOf(s.cmd.Process.Pid)), append(u.host, memoryOfOthers(program, append(u.others, s.cmd.Process.Pid)))
	jobs, err := loneJobLatencies(ctx, s.set)
	if err != nil {
		return err
	}
	exits, err := b.exitLatencies(ctx, s.set)
	if err != nil {
		return err
	}
	runs, err := b.stintRuns(ctx, program, dir, runsOfOne)
	u.jobs, u.exits, u.stintRuns = append(u.jobs, jobs...), append(u.exits, exits...), append(u.stintRuns, runs...)
	return err
}

// memoryOfOthers is that of the processes that run a program, without some of them.
func memoryOfOthers(program string, without []int) (sum memory) {
	for _, pid := range running(program) {
		if !slices.Contains(without, pid) {
			m := memoryOf(pid)
			sum.resident += m.resident
			sum.anonymous += m.anonymous
		}
	}
	return sum
}

// waitReady polls until the server that writes this kubeconfig answers.
func waitReady(ctx context.Context, kubeconfig string, until time.Time) (*rest.Config, error) {
	for time.Now().Before(until) {
		if config, err := clientcmd.BuildConfigFromFlags("", kubeconfig); err == nil && answers(ctx, config) {
			return config, nil
		}
		if err := pause(ctx, 2*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the server does not answer")
}

func answers(ctx context.Context, config *rest.Config) bool {
	c, err := rest.HTTPClientFor(config)
	if err != nil {
		return false
	}
	defer c.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/readyz", nil)
	if err != nil {
		return false
	}
	resp, err := c.Do(req)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
