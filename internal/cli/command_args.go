package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
)

// The groups of commands in the help.
const (
	groupJobs  = "jobs"
	groupVerbs = "verbs"
	groupOther = "other"
)

func unknownCommand(cmd *cobra.Command, name string) error {
	text := fmt.Sprintf("no command %q", name)
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		slices.Sort(near)
		text += fmt.Sprintf(": did you mean stint %s?", near[0])
	} else {
		text += ": see stint --help"
	}
	return badInputf("%s", text)
}

// exactly demands a number of arguments.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		if n == 0 {
			return badInputf("%s takes no arguments, not %q: see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
		}
		return badInputf("%s takes %s: see %s --help", cmd.CommandPath(), what, cmd.CommandPath())
	}
}

// atLeastOne is exactly for commands that take several of what.
func atLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return badInputf("%s takes %s: see %s --help", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}
