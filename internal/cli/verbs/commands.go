package verbs

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

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/cli/embedded"
	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/cli/targetflags"
	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/internal/visible"
)

// Exit is the panic value and the error that replace the exit of kubectl's commands, as an embedded server must be stopped first.
type Exit struct {
	Text string
	Code int
}

func (v Exit) Error() string { return v.Text }

// Recover turns a panic with an Exit into an error.
func Recover(err *error) {
	switch r := recover().(type) {
	case nil:
	case Exit:
		*err = r
	default:
		panic(r)
	}
}

// NewCommands returns kubectl's commands: the one that args name in full, the others with their names only.
func NewCommands(args []string, streams genericiooptions.IOStreams) []*cobra.Command {
	asked := firstWord(args)
	var commands []*cobra.Command
	for _, v := range All {
		if v.Name == asked || mentions(args, v.Name) && slices.Contains([]string{"help", cobra.ShellCompRequestCmd,
			cobra.ShellCompNoDescRequestCmd}, asked) {
			commands = append(commands, verbCommand(v, streams))
			continue
		}
		commands = append(commands, &cobra.Command{Use: v.Name, Short: v.Short, GroupID: command.GroupVerbs,
			Run: func(*cobra.Command, []string) {}})
	}
	return commands
}

// firstWord returns the first argument that is not a flag.
func firstWord(args []string) string {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			return a
		}
	}
	return ""
}

func mentions(args []string, name string) bool { return slices.Contains(args, name) }

func verbCommand(v Verb, streams genericiooptions.IOStreams) *cobra.Command {
	var w targetflags.Flags
	connection := &Connection{
		Find: func(ctx context.Context) (*target.Target, error) {
			return w.Connect(ctx, offline(v))
		},
		Where:          w.Options,
		Warn:           rest.NewWarningWriter(streams.ErrOut, rest.WarningWriterOptions{Deduplicate: true}),
		NamespaceGiven: func() bool { return w.Namespace != "" },
	}
	cmd := v.Build(connection, streams)
	cmd.GroupID = command.GroupVerbs
	w.Add(cmd.PersistentFlags())
	if v.Name == "delete" {
		waitForPodsAfter(cmd, connection, streams.ErrOut)
	}
	closeAfter(cmd, connection, streams.Out)
	return cmd
}

// offline returns a function that starts a server for a verb if none runs. Deleting needs the controllers, and the node to
// stop running pods; the node is cordoned, so that it starts none.
func offline(v Verb) func(server.Options) target.Start {
	switch {
	case v.Needs == NeedsServer:
		return nil
	case v.Needs == NeedsNothing:
		return embedded.DiscoveryServer
	case v.Name == "delete":
		return func(o server.Options) target.Start {
			o.Node, o.Cordoned = true, true
			return embedded.WithData(o)
		}
	}
	return embedded.ReadOnlyServer
}

// closeAfter makes the command and its subcommands stop the server that they have started, however they end.
func closeAfter(cmd *cobra.Command, connection *Connection, out io.Writer) {
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

func endVerb(connection *Connection, out io.Writer, act func() error) (err error) {
	command.QuietLibraries()
	cmdutil.BehaviorOnFatal(func(text string, code int) { panic(Exit{text, code}) })
	defer cmdutil.DefaultBehaviorOnFatal()
	signals, stop := command.Interrupts(out)
	defer stop()
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() { done <- err }()
		defer Recover(&err)
		err = act()
	}()
	select {
	case err = <-done:
	case s := <-signals: // logs -f, get -w
		if s != syscall.SIGPIPE {
			err = Exit{Code: command.ExitInterrupted}
		}
	}
	if w, ok := visible.Unchanged(out).(*command.Output); ok && w.ReaderGone() {
		err = nil
	}
	var verb Exit
	if errors.As(err, &verb) {
		verb.Text = aboutUnserved(verb.Text, connection.Kind())
		err = verb
	}
	return errors.Join(err, connection.Close())
}
