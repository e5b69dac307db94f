// Package command has what all commands of Stint share: errors and exit statuses, groups, arguments, signals, logs, and
// an output that records write errors.
package command

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
)

// The groups of commands in the help.
const (
	GroupJobs  = "jobs"
	GroupVerbs = "verbs"
	GroupOther = "other"
)

// Unknown returns the error for a command that does not exist. It suggests a similar one.
func Unknown(cmd *cobra.Command, name string) error {
	text := fmt.Sprintf("no command %q", name)
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		slices.Sort(near)
		text += fmt.Sprintf(": did you mean stint %s?", near[0])
	} else {
		text += ": see stint --help"
	}
	return BadInputf("%s", text)
}

// Exactly demands a number of arguments.
func Exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		if n == 0 {
			return BadInputf("%s takes no arguments, not %q: see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
		}
		return BadInputf("%s takes %s: see %s --help", cmd.CommandPath(), what, cmd.CommandPath())
	}
}

// AtLeastOne is Exactly for commands that take one or more arguments.
func AtLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return BadInputf("%s takes %s: see %s --help", cmd.CommandPath(), what, cmd.CommandPath())
		}
		return nil
	}
}
