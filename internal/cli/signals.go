package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// interrupts delivers the signals that end a run, until stop. A reader of the output that goes away (| head) is no
// reason to end: writing fails then, and the Jobs go on. SIGPIPE is caught rather than ignored, because programs that
// are started would inherit that.
func interrupts() (<-chan os.Signal, func()) {
	ends := make(chan os.Signal, 4)
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
		signal.Stop(ends)
		signal.Stop(pipes)
	}
}

// untilInterrupted ends the context with the first signal; the second ends the process at once.
func untilInterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	signals, stop := interrupts()
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
