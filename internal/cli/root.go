package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// newRoot builds the commands that args may need: kubectl's verbs are many and cost start-up time.
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
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	root.Version = newVersionInfo().String()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return badInputf("%w: see %s --help", err, cmd.CommandPath())
	})
	root.AddGroup(&cobra.Group{ID: groupJobs, Title: "Jobs:"},
		&cobra.Group{ID: groupVerbs, Title: "Objects, as with kubectl:"},
		&cobra.Group{ID: groupOther, Title: "Other:"})
	root.SetHelpCommandGroupID(groupOther)
	root.SetCompletionCommandGroupID(groupOther)
	root.AddCommand(newRun(streams), newServer(streams), newController(), newTrigger(streams), newResults(streams), newWhy(streams),
		newSuspend(streams), newResume(streams), newImage(streams), newVersion(streams))
	root.AddCommand(verbCommands(args, streams)...)
	demandShell(root)
	demandTopic(root)
	return root
}

// demandTopic has stint help refuse what cobra's command answers with the help of stint.
func demandTopic(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if show := cmd.Run; cmd.Name() == "help" && show != nil {
			cmd.Run = nil
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				if topic, rest, err := root.Find(args); err == nil && topic == root && len(rest) > 0 {
					return unknownCommand(root, rest[0])
				}
				show(cmd, args)
				return nil
			}
		}
	}
}

// demandShell has stint completion refuse what cobra's command answers with its help.
func demandShell(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args = exactly(1, "a shell")
			cmd.RunE = func(_ *cobra.Command, args []string) error {
				return badInputf("no completion for %q: choose bash, fish, powershell or zsh", args[0])
			}
		}
	}
}
