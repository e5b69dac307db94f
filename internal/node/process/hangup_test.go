package process_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stint-dev/stint/internal/node/process/wire"
)

// hangUpVariable makes the test binary a host that closes its connection before it ends. Its value is the run directory.
const hangUpVariable = "STINT_TEST_HANG_UP"

// hangUp serves one control plane until it reads a byte from standard input, and ends when that is closed.
func hangUp(run string) error {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(run, "host.sock"), Net: "unix"})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	socket, err := listener.AcceptUnix()
	if err != nil {
		return err
	}
	conn := wire.NewConn(socket)
	var hello wire.Hello
	if err := conn.Receive(&hello); err != nil {
		return err
	}
	if err := conn.Send(wire.Welcome{Protocol: wire.Protocol, Program: wire.Program(wire.Self)}); err != nil {
		return err
	}
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return err
	}
	listener.Close()
	conn.Close()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// When a host in a pid namespace ends, its connection is closed before the kernel has killed its containers.
func TestTheNextHostStartsWhenTheLastOneIsGone(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	run := makeRunDir(t, filepath.Join(dir, "data"))
	last := exec.Command(os.Args[0])
	last.Env = append(os.Environ(), hangUpVariable+"="+run)
	last.Stderr = os.Stderr
	tell, err := last.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	told, err := last.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := last.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		tell.Close()
		if err := last.Wait(); err != nil {
			t.Error(err)
		}
	})
	if _, err := told.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	m := startIn(t, dir)
	if _, err := tell.Write([]byte{0}); err != nil {
		t.Fatal(err)
	}
	// Time enough for the next host to start, if it were wrongly started. On a slow machine the test may miss that, but
	// it never fails without reason.
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := m.List(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("beside the last host there is another one (%v)", err)
	}
	tell.Close()
	if s := m.run(m.container("true")); s.ExitCode != 0 {
		t.Errorf("the next host does not work: %+v", s)
	}
}
