package command

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stint-dev/stint/test/await"
)

// nohup ignores SIGHUP, and shells ignore SIGINT for background processes.
func TestSignalsThatWereIgnoredStayIgnored(t *testing.T) {
	ignored := []os.Signal{syscall.SIGHUP, syscall.SIGINT}
	signal.Ignore(ignored...)
	defer signal.Reset(ignored...)
	ends, stop := Interrupts(nil)
	defer stop()
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
	}
	if got := await.Value(t, "a signal that ends", ends); got != syscall.SIGTERM {
		t.Errorf("%v ends it", got)
	}
}
