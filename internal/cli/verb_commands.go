package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/cli/verbs"
	"github.com/stint-dev/stint/internal/server"
)

// verbExit carries the end of one of kubectl's commands, which would exit by themselves, past the server that must be
// stopped first.
type verbExit struct {
	text string
	code int
}

func (v verbExit) Error() string { return v.text }

// recoverVerb turns the end of a verb into an error.
func recoverVerb(err *error) {
	switch r := recover().(type) {
	case nil:
	case verbExit:
		*err = r
	default:
		panic(r)
	}
}

// verbCommands returns kubectl's verbs: the one that is asked for in full, the others by name.
func verbCommands(args []string, streams genericiooptions.IOStreams) []*cobra.Command {
	asked := firstWord(args)
	var commands []*cobra.Command
	for _, v := range verbs.All {
		if v.Name == asked || mentions(args, v.Name) && slices.Contains([]string{"help", cobra.ShellCompRequestCmd,
			cobra.ShellCompNoDescRequestCmd}, asked) {
			commands = append(commands, verbCommand(v, streams))
			continue
		}
		commands = append(commands, &cobra.Command{Use: v.Name, Short: v.Short, GroupID: groupVerbs,
			Run: func(*cobra.Command, []string) {}})
	}
	return commands
}

// firstWord is the first argument that is no flag.
func firstWord(args []string) string {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			return a
		}
	}
	return ""
}

func mentions(args []string, name string) bool { return slices.Contains(args, name) }

func verbCommand(v verbs.Verb, streams genericiooptions.IOStreams) *cobra.Command {
	var w where
	connection := &verbs.Connection{
		Find: func(ctx context.Context) (*target.Target, error) {
			return w.connect(ctx, offline(v))
		},
		Where:          w.options,
		Warn:           rest.NewWarningWriter(streams.ErrOut, rest.WarningWriterOptions{Deduplicate: true}),
		NamespaceGiven: func() bool { return w.namespace != "" },
	}
	cmd := v.Build(connection, streams)
	cmd.GroupID = groupVerbs
	w.addFlags(cmd.PersistentFlags())
	if v.Name == "delete" {
		settleAfter(cmd, connection, streams.ErrOut)
	}
	closeAfter(cmd, connection, streams.Out)
	return cmd
}

// offline starts what a verb needs to look at the data directory of a server that does not run. Deleting takes the
// controllers, and the node to end pods that have outlived their server; it begins no others.
func offline(v verbs.Verb) func(server.Options) target.Start {
	switch {
	case v.Needs == verbs.NeedsServer:
		return nil
	case v.Needs == verbs.NeedsNothing:
		return describing
	case v.Name == "delete":
		return func(o server.Options) target.Start {
			o.Node, o.Cordoned = true, true
			return withData(o)
		}
	}
	return looking
}

// closeAfter has the command, and those below it, stop the server they started whichever way they end.
func closeAfter(cmd *cobra.Command, connection *verbs.Connection, out io.Writer) {
	if act := cmd.Run; act != nil {
		cmd.Run = nil
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			return endVerb(connection, out, func() error {
				act(cmd, args)
				return nil
			})
		}
	} else if act := cmd.RunE; act != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			return endVerb(connection, out, func() error { return act(cmd, args) })
		}
	}
	for _, sub := range cmd.Commands() {
		closeAfter(sub, connection, out)
	}
}

func endVerb(connection *verbs.Connection, out io.Writer, act func() error) (err error) {
	quietLibraries()
	cmdutil.BehaviorOnFatal(func(text string, code int) { panic(verbExit{text, code}) })
	defer cmdutil.DefaultBehaviorOnFatal()
	signals, stop := interrupts(out)
	defer stop()
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() { done <- err }()
		defer recoverVerb(&err)
		err = act()
	}()
	select {
	case err = <-done:
	case s := <-signals: // logs -f, get -w
		if s != syscall.SIGPIPE {
			err = verbExit{code: exitInterrupted}
		}
	}
	if w, ok := out.(*written); ok && w.readerGone() {
		err = nil
	}
	var verb verbExit
	if errors.As(err, &verb) {
		verb.text = aboutUnserved(verb.text, connection.Kind())
		err = verb
	}
	return errors.Join(err, connection.Close())
}
