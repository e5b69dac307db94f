// Package trigger is stint trigger, which requests a run of a CronJob or ScheduledJob.
package trigger

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/cli/run"
	"github.com/stint-dev/stint/internal/cli/schedules"
	"github.com/stint-dev/stint/internal/cli/targetflags"
)

// triggerable are the kinds that have runs.
var triggerable = []schedules.Kind{schedules.CronJob, schedules.ScheduledJob}

type triggerFlags struct {
	targetflags.Flags
	env       []string
	container string
	tag       string
	wait      bool
	format    string
}

// NewCommand returns the command stint trigger.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	var f triggerFlags
	cmd := &cobra.Command{
		Use:     "trigger NAME [-- ARG…]",
		Short:   "Run a CronJob or ScheduledJob now",
		GroupID: command.GroupJobs,
		Long: `Start a run of a CronJob or ScheduledJob now, independent of its schedule. The run obeys the concurrency policy: if it
must wait for another run, the output says so.

NAME may be KIND/NAME: cronjob/… (cj), scheduledjob/… (sj). The words after -- replace the args of the container, and
--env sets variables, for this run only. Requests with the same --tag are one run.

Exit status: 0 if the run was requested; with --wait if it completed. 1 if it failed, 2 for bad input, 130 after Ctrl-C,
which does not stop the run.`,
		Example: `  stint trigger nightly
  stint trigger nightly --wait --env DRY_RUN=1
  stint trigger sj/report --tag march -- --month 3`,
		Args:              oneBeforeDash,
		ValidArgsFunction: f.Complete(triggerable),
		RunE: func(cmd *cobra.Command, args []string) error {
			request, err := f.request(args[1:])
			if err != nil {
				return err
			}
			return f.trigger(cmd.Context(), streams, args[0], request)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.env, "env", nil, "NAME=VALUE to set in the environment of this run; repeatable")
	flags.StringVar(&f.container, "container", "", "container that --env and args apply to (default: env to all, args to the first)")
	flags.StringVar(&f.tag, "tag", "", "name of the run; its Job is called NAME-TAG (default: a generated one)")
	flags.BoolVar(&f.wait, "wait", false, "show progress and logs until the run has finished; the exit status is that of the run")
	flags.StringVarP(&f.format, "output", "o", "", "json: JSON for programs, with --wait one object per line; name: the name of the Job")
	f.Add(flags)
	return cmd
}

// oneBeforeDash demands one name, and args after -- if it is given.
func oneBeforeDash(cmd *cobra.Command, args []string) error {
	before := cmd.ArgsLenAtDash()
	switch {
	case before < 0 && len(args) > 1:
		return command.BadInputf("%s takes one name, not %q: put args of the run after --", cmd.CommandPath(), args[1])
	case before < 0 && len(args) == 1, before == 1 && len(args) > 1:
		return nil
	case before > 1:
		return command.BadInputf("%s takes one name, not %q", cmd.CommandPath(), args[1])
	case before == 1:
		return command.BadInputf("nothing follows --: add the args of the run, or leave it out")
	}
	return command.BadInputf("%s takes the name of one CronJob or ScheduledJob: see %s --help", cmd.CommandPath(), cmd.CommandPath())
}

func (f *triggerFlags) request(args []string) (schedules.Request, error) {
	if !slices.Contains([]string{"", "json", "name"}, f.format) {
		return schedules.Request{}, command.BadInputf("-o %s is not supported: use json or name", f.format)
	}
	if f.wait && f.format == "name" {
		return schedules.Request{}, command.BadInputf("--wait and -o name exclude each other: leave one out")
	}
	return schedules.NewRequest(f.tag, f.container, f.env, args)
}

func (f *triggerFlags) trigger(ctx context.Context, streams genericiooptions.IOStreams, name string, request schedules.Request) error {
	clients, err := f.Clients(ctx, streams)
	if err != nil {
		return err
	}
	owner, err := clients.Find(ctx, name, triggerable...)
	if err != nil {
		return err
	}
	asked, err := clients.Trigger(ctx, owner, request)
	if err != nil {
		return err
	}
	say := streams.Out
	if f.wait && f.format == "" {
		say = streams.ErrOut // standard output is for the logs of the run
	}
	if err := f.tell(say, asked); err != nil || !f.wait {
		return err
	}
	w := waiting{Flags: f.Flags, clients: clients, run: asked, out: run.NewOutput(streams, f.format == "json", false), stdout: streams.Out}
	return w.follow(ctx)
}

// tell prints the requested run.
func (f *triggerFlags) tell(out io.Writer, r schedules.Run) (err error) {
	switch f.format {
	case "name":
		_, err = fmt.Fprintln(out, "job.batch/"+r.Job)
	case "json":
		err = json.NewEncoder(out).Encode(struct {
			Type string    `json:"type"`
			Time time.Time `json:"time"`
			schedules.Run
		}{"runRequested", time.Now().UTC(), r})
	default:
		_, err = fmt.Fprintln(out, r)
	}
	return err
}
