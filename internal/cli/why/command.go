package why

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/cli/embedded"
	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/schedules"
	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/cli/targetflags"
	"github.com/stint-dev/stint/internal/visible"
)

// explicable are the kinds that stint why explains.
var explicable = []schedules.Kind{schedules.Job, schedules.CronJob, schedules.ScheduledJob}

type whyFlags struct {
	targetflags.Flags
	format string
}

// NewCommand returns the command stint why.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	var f whyFlags
	cmd := &cobra.Command{
		Use:     "why NAME",
		Short:   "Explain why a Job does not run, is not finished, or failed",
		GroupID: command.GroupJobs,
		Long: `Explain a Job on one screen: its state and since when, what it waits for, its latest failures with exit codes and the
last lines of their logs, and what happens next and when. For a CronJob or ScheduledJob: why no run is active, and when
the next one starts.

NAME may be KIND/NAME: job/…, cronjob/… (cj), scheduledjob/… (sj).

It works on a running server, on a cluster, and on a data directory whose server does not run.

Exit status: 0 whatever the state of the Job, 2 for bad input.`,
		Example: `  stint why pi
  stint why pi -o json
  stint why sj/report`,
		Args:              command.Exactly(1, "the name of one Job, CronJob or ScheduledJob"),
		ValidArgsFunction: f.Complete(explicable),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.format != "" && f.format != "json" {
				return command.BadInputf("-o %s is not supported: use -o json, or leave it out for text", f.format)
			}
			return f.explain(cmd.Context(), streams, args[0])
		},
	}
	cmd.Flags().StringVarP(&f.format, "output", "o", "", "json: a JobExplanation, for programs")
	f.Add(cmd.Flags())
	return cmd
}

func (f *whyFlags) explain(ctx context.Context, streams genericiooptions.IOStreams, name string) (err error) {
	t, err := f.Connect(ctx, embedded.ReadOnlyServer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	clients, err := schedules.NewClients(t, rest.NoWarnings{})
	if err != nil {
		return err
	}
	object, err := clients.Find(ctx, name, explicable...)
	if err != nil {
		return withNearName(ctx, clients, name, err)
	}
	job, isJob := object.(*batchv1.Job)
	switch {
	case !isJob && f.format == "json":
		return command.BadInputf("-o json is for Jobs, and %s is none: leave it out, or see %s", name,
			t.Caller.Command(t.Namespace, "get", name, "-o", "json"))
	case !isJob:
		return textFor(streams, t).Schedule(visible.Unchanged(streams.Out), object, time.Now())
	}
	return f.explainJob(ctx, streams, t, job)
}

func (f *whyFlags) explainJob(ctx context.Context, streams genericiooptions.IOStreams, t *target.Target, job *batchv1.Job) error {
	asker, err := NewAsker(t.Config)
	if err != nil {
		return err
	}
	x, err := asker.Job(ctx, job.Namespace, job.Name, time.Now())
	if err != nil {
		return err
	}
	if f.format == "json" {
		encoder := json.NewEncoder(streams.Out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(x)
	}
	return textFor(streams, t).Job(visible.Unchanged(streams.Out), x, asker.Tails(ctx, x))
}

func textFor(streams genericiooptions.IOStreams, t *target.Target) Text {
	return Text{Caller: t.Caller, Zone: time.Local, Colour: output.IsTerminal(streams.Out) && os.Getenv("NO_COLOR") == "",
		Remote: t.Kind == target.Cluster, NoController: t.Kind == target.Embedded}
}

// withNearName adds a similar name to an error about an unknown one.
func withNearName(ctx context.Context, clients *schedules.Clients, name string, err error) error {
	var input schedules.InputError
	if !errors.As(err, &input) {
		return err
	}
	if near := manifest.Closest(name, clients.Names(ctx, explicable...)); near != "" {
		return command.BadInputf("%w; did you mean %s?", err, near)
	}
	return err
}
