// Package results is `stint results`: the results of every index or pod of a Job.
//
// stint server serves them. On a cluster they are computed from the ResultSlices, if there are any, and the existing pods:
//
//	jobs/NAME/results ─────────────┐
//	ResultSlices ──┬── Merge ──────┼──▶ JobResults ──▶ table, json, csv
//	pods ──────────┘               │
//	pods alone, and a note ────────┘
package results

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/results"
)

// InputError is an error that the user can correct.
type InputError struct{ error }

func (e InputError) Unwrap() error { return e.error }

func inputErrorf(format string, args ...any) error {
	return InputError{fmt.Errorf(format, args...)}
}

// Formats are the values of Options.Format; empty is a table.
var Formats = []string{"", "wide", "json", "csv"}

// Options say what to show and where.
type Options struct {
	// Job is NAME or job/NAME.
	Job    string
	Format string
	// FailedOnly leaves out indexes or pods that did not fail.
	FailedOnly bool
	Now        time.Time
	// Width is the maximum width of a line of a table; 0 is no limit.
	Width       int
	Out, ErrOut io.Writer
}

// Show prints the results of a Job in the namespace.
func Show(ctx context.Context, config *rest.Config, namespace string, o Options) error {
	c, err := Connect(config, namespace)
	if err != nil {
		return err
	}
	name, err := JobName(o.Job)
	if err != nil {
		return err
	}
	job, err := c.Job(ctx, name)
	if err != nil {
		return err
	}
	all, note, err := c.Results(ctx, job)
	if err != nil {
		return err
	}
	lost := results.Unknown(job, all)
	for _, text := range []string{note, unknown(lost, all.Dropped)} {
		if text != "" {
			fmt.Fprintln(o.ErrOut, "note: "+text)
		}
	}
	if o.FailedOnly {
		all.Items = slices.DeleteFunc(all.Items, func(r stintv1.JobResult) bool { return r.Phase != corev1.PodFailed })
	}
	return o.print(job, all, lost)
}

// unknown is the note about n pods without results, of which dropped were deleted because of --max-results.
func unknown(n, dropped int64) string {
	switch {
	case n == 0:
		return ""
	case n == dropped:
		return fmt.Sprintf("the %d oldest results were deleted: see --max-results", n)
	case n == 1:
		return "the result of 1 terminated pod is not known: it was not kept"
	default:
		return fmt.Sprintf("the results of %d terminated pods are not known: they were not kept", n)
	}
}

func (o *Options) print(job *batchv1.Job, all *stintv1.JobResults, lost int64) error {
	switch o.Format {
	case "json":
		return printJSON(o.Out, all)
	case "csv":
		return printCSV(o.Out, all, o.Now)
	}
	if len(all.Items) == 0 {
		_, err := fmt.Fprintf(o.ErrOut, "job %s: %s\n", job.Name, o.nothing(job, lost == 0))
		return err
	}
	t := table{now: o.Now, indexed: core.ModeOf(job) == batchv1.IndexedCompletion, all: o.Format == "wide", width: o.Width}
	return t.print(o.Out, all.Items)
}

// nothing says why the table is empty.
func (o *Options) nothing(job *batchv1.Job, known bool) string {
	switch {
	case known && o.FailedOnly:
		return "nothing has failed"
	case known && core.Finished(job):
		return "no pod was ever started"
	case known:
		return "no pod has been started yet"
	case o.FailedOnly:
		return "no known result is a failure"
	}
	return "no result is known"
}

// JobName returns the name in NAME or job/NAME.
func JobName(text string) (string, error) {
	kind, name, both := strings.Cut(text, "/")
	switch {
	case !both:
		return text, nil
	case slices.Contains([]string{"job", "jobs", "job.batch", "jobs.batch"}, strings.ToLower(kind)):
		return name, nil
	}
	return "", inputErrorf("%q is no Job: write NAME or job/NAME", text)
}

// WrongInput makes an error an InputError.
func WrongInput(err error) error { return InputError{err} }
