// Package run implements `stint run`: it runs the Jobs of manifests to their end.
//
//	read and check the files → find a server → dry run of all objects → create the other objects
//	  → create the Jobs → follow them: progress, logs, failures → show the outcomes
//
// Nothing is created before everything has been checked. Ctrl-C deletes the Jobs that have not finished.
package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/run/dirclaim"
	"github.com/stint-dev/stint/internal/cli/target"
)

// Logs chooses the pods whose logs are shown.
type Logs string

// The choices.
const (
	LogsAll    Logs = "all"
	LogsFailed Logs = "failed"
	LogsNone   Logs = "none"
)

// Options are the settings of a run.
type Options struct {
	From   manifest.Sources
	Logs   Logs
	Target target.Options
	Start  target.Start
	// Claims are made before the Jobs.
	Claims []dirclaim.Claim
	// RuntimeClass is the default of the server that Start starts. RuntimeAsked is set if it comes from the command line.
	RuntimeClass string
	RuntimeAsked bool
	// ClassesAsked is set if the command line names StorageClasses for the server that Start starts.
	ClassesAsked bool
	// Output is called once the input has been checked. Run closes the result.
	Output func() output.Output
	// Interrupts delivers Ctrl-C and other signals that end the run.
	Interrupts <-chan os.Signal
	// CompleteDeleted, for Follow, adds the terminal condition to a Job that was deleted before it was observed, if it is known.
	CompleteDeleted func(context.Context, *batchv1.Job) *batchv1.Job
}

var (
	// ErrFailed means that a Job did not complete. The output has shown why.
	ErrFailed = errors.New("not all jobs completed")
	// ErrInterrupted means that the user ended the run. The output has shown the state of the Jobs.
	ErrInterrupted = errors.New("interrupted")
)

// InputError is an error in the command line.
type InputError struct{ error }

func (e InputError) Unwrap() error { return e.error }

// Run returns when all Jobs have finished. Its errors are manifest.Problems or InputError for bad input, ErrFailed,
// ErrInterrupted, or the reason why the Jobs could not be followed.
func Run(ctx context.Context, o Options) (err error) {
	objects, err := manifest.Read(ctx, o.From)
	if err != nil {
		return err
	}
	if err := runnable(objects, o.Target.Caller()); err != nil {
		return err
	}
	t, err := connect(ctx, o)
	if err != nil {
		return err
	}
	out := o.Output()
	s, err := newSession(o, t, out)
	if err != nil {
		return errors.Join(err, out.Close(), t.Close())
	}
	// The server may be another one by the end.
	defer func() { err = errors.Join(err, out.Close(), s.target.Close()) }()
	return s.run(ctx, objects)
}

// connect finds or starts a server. Ctrl-C interrupts it, as a server may be slow.
func connect(ctx context.Context, o Options) (*target.Target, error) {
	type result struct {
		t   *target.Target
		err error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	connected := make(chan result, 1)
	go func() {
		t, err := target.Connect(ctx, o.Target, o.Start)
		connected <- result{t, err}
	}()
	select {
	case r := <-connected:
		return r.t, r.err
	case <-o.Interrupts:
		cancel()
		if r := <-connected; r.err == nil {
			return nil, errors.Join(ErrInterrupted, r.t.Close())
		}
		return nil, ErrInterrupted
	}
}

// runnable refuses input without Jobs, and kinds that never finish.
func runnable(objects []*manifest.Object, caller target.Caller) error {
	jobs := 0
	var problems manifest.Problems
	for _, o := range objects {
		switch o.GVK.Kind {
		case "Job":
			jobs++
		case "CronJob", "ScheduledJob":
			problems = append(problems, manifest.Problem{Place: o.Place, Field: "kind",
				Message: "a " + o.GVK.Kind + " never finishes",
				Remedy: fmt.Sprintf("start %s, then %s; to run it now: %s", caller.Command("", "server"), caller.Command("", "apply", "-f", o.File),
					caller.Command(o.Typed.GetNamespace(), "trigger", strings.ToLower(o.GVK.Kind)+"/"+o.Name(), "--wait"))})
		}
	}
	if len(problems) == 0 && jobs == 0 {
		problems = append(problems, manifest.Problem{Place: manifest.Place{File: objects[0].File},
			Message: "no Job to run", Remedy: "add a Job, or create the objects with " + caller.Command("", "apply", "-f", objects[0].File)})
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}
