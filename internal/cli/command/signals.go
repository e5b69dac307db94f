package command

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Interrupts delivers the signals that end a command, until stop, and SIGPIPE when the reader of out has closed it (| head).
// A SIGPIPE of the kernel may be about any connection, and has no effect. It is caught rather than ignored, because child
// processes would inherit an ignored signal.
func Interrupts(out io.Writer) (<-chan os.Signal, func()) {
	ends := make(chan os.Signal, 4)
	stopWatching := watchReader(out, func() { ends <- syscall.SIGPIPE })
	signal.Notify(ends, syscall.SIGTERM)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		// Signals that are ignored at the start stay ignored: nohup and shells do that for background processes.
		if !signal.Ignored(s) {
			signal.Notify(ends, s)
		}
	}
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	return ends, func() {
		stopWatching()
		signal.Stop(ends)
		signal.Stop(pipes)
	}
}

// UntilInterrupted ends the context with the first signal; the second ends the process at once.
func UntilInterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	signals, stop := Interrupts(nil)
	go func() {
		select {
		case <-signals:
		case <-ctx.Done():
		}
		stop()
		cancel()
	}()
	return ctx, cancel
}
