package process

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/test/await"
)

func TestAHostThatHasHungUpAndDoesNotEndIsNamedToThoseWhoWait(t *testing.T) {
	last := exec.Command("cat")
	hold, err := last.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := last.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		hold.Close()
		if err := last.Wait(); err != nil {
			t.Error(err)
		}
	})
	fd, err := unix.PidfdOpen(last.Process.Pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	l := &link{hostLifetime: &hostLifetime{os.NewFile(uintptr(fd), "pidfd")}}
	defer l.hostLifetime.close()
	r := &Runtime{config: Config{StartTimeout: time.Millisecond}, link: newLinks()}
	gone := make(chan struct{})
	go func() {
		r.awaitEnd(await.Context(t), l)
		close(gone)
	}()
	if _, err := r.link.wait(await.Context(t)); err == nil || !strings.Contains(err.Error(), "has not ended after 1ms") {
		t.Errorf("a call is told %v", err)
	}
	select {
	case <-gone:
		t.Error("it has not been waited for")
	default:
	}
	hold.Close()
	await.Value(t, "it is gone", gone)
}
