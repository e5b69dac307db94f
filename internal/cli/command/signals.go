package command

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Interrupts delivers the signals that end a command, until stop: SIGPIPE too, once the reader of out has gone (| head).
// The kernel's own SIGPIPE may be about any connection. It is caught rather than ignored, because programs that are
// started would inherit that.
func Interrupts(out io.Writer) (<-chan os.Signal, func()) {
	ends := make(chan os.Signal, 4)
	stopWatching := watchReader(out, func() { ends <- syscall.SIGPIPE })
	signal.Notify(ends, syscall.SIGTERM)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		// What was ignored at the start stays ignored, as nohup and shells mean it for what runs in the background.
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
