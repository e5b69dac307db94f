package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

// options are the flags of the command line.
type options struct {
	manifests, only, stint, standIn string
	shell, verbose                  bool
	atATime                         int
	timeout                         time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.manifests, "manifests", "", "the directory of the manifests")
	flag.StringVar(&o.stint, "stint", "bin/stint", "the program that runs them")
	flag.StringVar(&o.only, "only", "", "run the files whose names match this regular expression")
	flag.StringVar(&o.standIn, "standin", "", "the program of test/wild/standin, which is built otherwise")
	flag.BoolVar(&o.shell, "shell", false, "run the scripts of the manifests with busybox")
	flag.BoolVar(&o.verbose, "v", false, "print the Jobs that ended as their manifests say too")
	flag.IntVar(&o.atATime, "at-a-time", 6, "how many Jobs run at the same time")
	flag.DurationVar(&o.timeout, "timeout", time.Minute, "how long a Job may take")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "wild:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be done
	}
}

func run(ctx context.Context, o options) (err error) {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	files, err := readManifests(o.manifests, only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "stint-wild-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o.standIn == "" {
		o.standIn = filepath.Join(dir, "standin")
		if err := buildStandIn(ctx, o.standIn); err != nil {
			return err
		}
	}
	if err := serveStandIns(ctx, dir, files, o); err != nil {
		return err
	}
	program, err := filepath.Abs(o.stint)
	if err != nil {
		return err
	}
	s, err := startServer(ctx, program, dir)
	if err != nil {
		return err
	}
	defer s.stop()
	outcomes := runAll(ctx, s, files, o)
	printOutcomes(outcomes, o.verbose)
	return ctx.Err()
}

// runAll runs the Jobs of all files, and returns how each went, in their order.
func runAll(ctx context.Context, s *server, files []*file, o options) []outcome {
	var outcomes []outcome
	var group sync.WaitGroup
	room := make(chan struct{}, o.atATime)
	for _, f := range files {
		outcomes = append(outcomes, make([]outcome, len(f.jobs))...)
	}
	at := 0
	for _, f := range files {
		for i, j := range f.jobs {
			slot := &outcomes[at]
			at++
			room <- struct{}{}
			group.Go(func() {
				defer func() { <-room }()
				t := &trial{server: s, file: f, number: i, job: j, shell: o.shell, timeout: o.timeout}
				*slot = outcome{file: f.name, number: i, kind: j.object.GetKind()}
				slot.state, slot.why = t.run(ctx)
			})
		}
	}
	group.Wait()
	return outcomes
}
