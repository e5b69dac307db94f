package results

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/cli/embedded"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/schedules"
	"github.com/stint-dev/stint/internal/cli/targetflags"
)

type resultsFlags struct {
	targetflags.Flags
	format     string
	failedOnly bool
}

// NewCommand returns the command stint results.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	var f resultsFlags
	cmd := &cobra.Command{
		Use:     "results JOB",
		Short:   "Show the results of every index or pod of a Job",
		GroupID: command.GroupJobs,
		Long: `Show the result of every index of a Job, or of every pod of a Job without indexes: the number of attempts, and of the
last one exit code and signal, reason, node, times and termination message. Deleted pods are listed, too, if Stint
manages the Job.

  -o wide   every pod of every index
  -o json   one JobResults object, as jobs/NAME/results of stint server
  -o csv    a header, and one record with all fields for each index or pod`,
		Example: `  stint results simulate
  stint results simulate --failed
  stint results simulate -o csv > results.csv
  stint logs simulate --index 17 --attempt 2`,
		Args:              command.Exactly(1, "the name of one Job"),
		ValidArgsFunction: f.Complete([]schedules.Kind{schedules.Job}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(Formats, f.format) {
				return command.BadInputf("-o %s is not supported: use wide, json or csv, or leave it out for a table", f.format)
			}
			return f.show(cmd.Context(), streams, args[0])
		},
	}
	cmd.Flags().StringVarP(&f.format, "output", "o", "", "wide, json or csv")
	cmd.Flags().BoolVar(&f.failedOnly, "failed", false, "show only failed indexes or pods")
	f.Add(cmd.Flags())
	return cmd
}

func (f *resultsFlags) show(ctx context.Context, streams genericiooptions.IOStreams, name string) (err error) {
	t, err := f.Connect(ctx, embedded.ReadOnlyServer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	return Show(ctx, t.Config, t.Namespace, Options{
		Job: name, Format: f.format, FailedOnly: f.failedOnly, Now: time.Now(), Width: width(streams.Out),
		Out: streams.Out, ErrOut: streams.ErrOut,
	})
}

// width returns the width of the terminal, 0 if w is none.
func width(w io.Writer) int {
	if !output.IsTerminal(w) {
		return 0
	}
	columns, _, err := term.GetSize(output.File(w).Fd())
	if err != nil {
		return 0
	}
	return columns
}
