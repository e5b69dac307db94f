package targetflags

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/internal/cli/schedules"
	"github.com/stint-dev/stint/internal/cli/target"
)

// Clients connects to a running server.
func (w *Flags) Clients(ctx context.Context, streams genericiooptions.IOStreams) (*schedules.Clients, error) {
	t, err := w.Connect(ctx, nil)
	if err != nil {
		return nil, err
	}
	clients, err := schedules.NewClients(t, rest.NewWarningWriter(streams.ErrOut, rest.WarningWriterOptions{Deduplicate: true}))
	if err != nil {
		return nil, err
	}
	clients.Reconnect = func(ctx context.Context) (*target.Target, error) { return w.Connect(ctx, nil) }
	return clients, nil
}

// Complete returns the completion of an object's name.
func (w *Flags) Complete(among []schedules.Kind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		clients, err := w.Clients(cmd.Context(), genericiooptions.NewTestIOStreamsDiscard())
		if len(args) > 0 || err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return clients.Names(cmd.Context(), among...), cobra.ShellCompDirectiveNoFileComp
	}
}
