// Package cli is the command line of Stint: it runs the command and turns its error into an exit status.
//
//	0    success; for stint run: every Job completed
//	1    failure; for stint run: a Job failed
//	2    bad input: flags, arguments, manifests, commands that are not supported yet
//	130  interrupted with Ctrl-C
package cli

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/results"
	"github.com/stint-dev/stint/internal/cli/run"
	"github.com/stint-dev/stint/internal/cli/schedules"
	"github.com/stint-dev/stint/internal/cli/verbs"
	"github.com/stint-dev/stint/internal/visible"
)

// Main runs a command line (args without the program's name), and returns its exit status.
func Main(args []string, streams genericiooptions.IOStreams) int {
	out := command.Output{To: streams.Out}
	if !output.IsTerminal(streams.Out) {
		streams.Out = &out
	}
	// All text that commands and libraries print goes through these.
	shown, problems := visible.NewWriter(streams.Out), visible.NewWriter(streams.ErrOut)
	defer problems.Close()
	streams.Out, streams.ErrOut = shown, problems
	command.LogStandard(problems)
	err := execute(args, streams)
	_ = shown.Close() // out has the error
	if err == nil || errors.Is(err, syscall.EPIPE) && out.ReaderGone() {
		err = out.Failure()
	}
	if text := message(err); text != "" {
		fmt.Fprintln(streams.ErrOut, text)
	}
	return status(err)
}

func execute(args []string, streams genericiooptions.IOStreams) (err error) {
	defer verbs.Recover(&err)
	root := newRoot(args, streams)
	root.SetArgs(args)
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	return root.Execute()
}

func status(err error) int {
	var input command.BadInput
	var problems manifest.Problems
	var verb verbs.Exit
	var refused schedules.InputError
	var wrong results.InputError
	var elsewhere run.InputError
	switch {
	case err == nil:
		return command.ExitOK
	case errors.As(err, &verb):
		return verb.Code
	case errors.Is(err, run.ErrInterrupted):
		return command.ExitInterrupted
	case errors.As(err, &input), errors.As(err, &problems), errors.As(err, &refused), errors.As(err, &wrong), errors.As(err, &elsewhere):
		return command.ExitBadInput
	}
	return command.ExitFailed
}

// message returns the text to print for an error; empty if the command has printed it.
func message(err error) string {
	var problems manifest.Problems
	var verb verbs.Exit
	switch {
	case err == nil:
		return ""
	case errors.As(err, &verb):
		return strings.TrimSuffix(verb.Text, "\n")
	case errors.As(err, &problems):
		return problems.Error() // one line each, file first
	}
	var lines []string
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSpace(line)
		if line != "" && line != run.ErrFailed.Error() && line != run.ErrInterrupted.Error() {
			lines = append(lines, "stint: "+line)
		}
	}
	return strings.Join(lines, "\n")
}
