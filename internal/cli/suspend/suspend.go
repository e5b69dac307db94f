// Package suspend is stint suspend and stint resume.
package suspend

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/cli/schedules"
	"github.com/stint-dev/stint/internal/cli/targetflags"
)

// suspendable are the kinds that can be suspended.
var suspendable = []schedules.Kind{schedules.Job, schedules.CronJob, schedules.ScheduledJob}

// NewCommand returns the command stint suspend.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	cmd := suspension(streams, (*schedules.Clients).Suspend)
	cmd.Use = "suspend NAME"
	cmd.Short = "Suspend a Job or a schedule"
	cmd.Long = `Suspend a Job: its pods are deleted, its counters stay. Or suspend a CronJob or ScheduledJob: no runs start at due
times, and active runs continue.

NAME may be KIND/NAME: job/…, cronjob/… (cj), scheduledjob/… (sj).`
	return cmd
}

// NewResumeCommand returns the command stint resume.
func NewResumeCommand(streams genericiooptions.IOStreams) *cobra.Command {
	cmd := suspension(streams, (*schedules.Clients).Resume)
	cmd.Use = "resume NAME"
	cmd.Short = "Resume a suspended Job or schedule"
	cmd.Long = `Resume a suspended Job, CronJob or ScheduledJob, or a ScheduledJob that a failed run has blocked.

NAME may be KIND/NAME: job/…, cronjob/… (cj), scheduledjob/… (sj).`
	return cmd
}

// suspension returns a command that calls act with the named object and prints the message.
func suspension(streams genericiooptions.IOStreams,
	act func(*schedules.Clients, context.Context, metav1.Object) (string, error)) *cobra.Command {
	var w targetflags.Flags
	cmd := &cobra.Command{
		GroupID:           command.GroupJobs,
		Args:              command.Exactly(1, "the name of one Job, CronJob or ScheduledJob"),
		ValidArgsFunction: w.Complete(suspendable),
		RunE: func(cmd *cobra.Command, args []string) error {
			clients, err := w.Clients(cmd.Context(), streams)
			if err != nil {
				return err
			}
			object, err := clients.Find(cmd.Context(), args[0], suspendable...)
			if err != nil {
				return err
			}
			done, err := act(clients, cmd.Context(), object)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(streams.Out, done)
			return err
		},
	}
	w.Add(cmd.Flags())
	return cmd
}
