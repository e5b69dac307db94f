package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/cli/controller"
	"github.com/stint-dev/stint/internal/cli/image"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/results"
	"github.com/stint-dev/stint/internal/cli/run"
	"github.com/stint-dev/stint/internal/cli/server"
	"github.com/stint-dev/stint/internal/cli/suspend"
	"github.com/stint-dev/stint/internal/cli/trigger"
	"github.com/stint-dev/stint/internal/cli/verbs"
	"github.com/stint-dev/stint/internal/cli/version"
	"github.com/stint-dev/stint/internal/cli/why"
	"github.com/stint-dev/stint/internal/visible"
)

// newRoot builds the commands that args may need. To build all of kubectl's commands would cost start-up time.
func newRoot(args []string, streams genericiooptions.IOStreams) *cobra.Command {
	root := &cobra.Command{
		Use:   "stint",
		Short: "Kubernetes Jobs, with or without Kubernetes",
		Long: `Stint runs Kubernetes Jobs to their end: on this machine, without a cluster, or on a cluster.

  stint run -f job.yaml    run the Jobs of a file here and show their logs
  stint server             serve the Kubernetes API for Jobs, for kubectl and other clients
  stint controller         run the Jobs of a cluster`,
		SuggestionsMinimumDistance: 2,
		SilenceUsage:               true,
		SilenceErrors:              true,
		Args:                       cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return command.Unknown(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) { exactForPrograms(cmd, streams.Out) }
	root.Version = version.NewInfo().String()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return command.BadInputf("%w: see %s --help", err, cmd.CommandPath())
	})
	root.AddGroup(&cobra.Group{ID: command.GroupJobs, Title: "Jobs:"},
		&cobra.Group{ID: command.GroupVerbs, Title: "Objects, as with kubectl:"},
		&cobra.Group{ID: command.GroupOther, Title: "Other:"})
	root.SetHelpCommandGroupID(command.GroupOther)
	root.SetCompletionCommandGroupID(command.GroupOther)
	root.AddCommand(run.NewCommand(streams), server.NewCommand(streams), controller.NewCommand(),
		trigger.NewCommand(streams), results.NewCommand(streams), why.NewCommand(streams),
		suspend.NewCommand(streams), suspend.NewResumeCommand(streams),
		image.NewCommand(streams), version.NewCommand(streams))
	root.AddCommand(verbs.NewCommands(args, streams)...)
	demandShell(root)
	demandTopic(root)
	return root
}

// exactForPrograms leaves output unchanged that is in a format for programs and does not end at a terminal.
func exactForPrograms(cmd *cobra.Command, out io.Writer) {
	value := func(flag string) string {
		if f := cmd.Flag(flag); f != nil {
			return f.Value.String()
		}
		return ""
	}
	forPrograms := !isForPeople(value("output")) || value("template") != "" || value("raw") != ""
	if shown, ok := out.(*visible.Writer); ok && forPrograms && !output.EndsAtTerminal(out) {
		shown.Exact()
	}
}

// isForPeople reports whether people read the output of a command with this value of -o.
func isForPeople(format string) bool {
	return slices.Contains([]string{"", "wide", "plaintext", "plaintext-openapiv2"}, format) || strings.HasPrefix(format, "custom-columns")
}

// demandTopic makes stint help refuse an unknown command. Cobra would print the help of stint.
func demandTopic(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if show := cmd.Run; cmd.Name() == "help" && show != nil {
			cmd.Run = nil
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				if topic, rest, err := root.Find(args); err == nil && topic == root && len(rest) > 0 {
					return command.Unknown(root, rest[0])
				}
				show(cmd, args)
				return nil
			}
		}
	}
}

// demandShell makes stint completion refuse an unknown shell. Cobra would print the help of the command.
func demandShell(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args = command.Exactly(1, "a shell")
			cmd.RunE = func(_ *cobra.Command, args []string) error {
				return command.BadInputf("no completion for %q: choose bash, fish, powershell or zsh", args[0])
			}
		}
	}
}
