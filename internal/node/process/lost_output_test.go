package process_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/process/wire"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/smalldisk"
)

// manyLines is what a container of these tests prints while its disk is full. It is more than a page: the log's last one has room.
var manyLines = strings.Repeat("0123456789012345678901234567890\n", 500)

// fullDisk is a container that prints while the disk of its log is full.
type fullDisk struct {
	*machine
	c     runtime.Container
	other string
	// gates is the directory of the files that the container waits for.
	gates string
}

// onFullDisk starts a container that prints a line, then manyLines on a full disk, and manyLines again when there is a file more. When
// there is room it prints a last line.
func onFullDisk(t *testing.T, disk string) *fullDisk {
	t.Helper()
	gates := t.TempDir()
	write(t, filepath.Join(gates, "lines"), manyLines)
	m := startIn(t, disk)
	c := m.container("sh", "-c", `
		await() { until test -e $1; do sleep 0.01; done; }
		cd `+gates+`; echo before
		await full; cat lines
		await more; cat lines; touch said
		await room; echo after
		exit 3`)
	f := &fullDisk{m, c, filepath.Join(disk, "other"), gates}
	m.start(f.c)
	f.untilPrinted("before\n")
	var s unix.Statfs_t
	if err := unix.Statfs(disk, &s); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.other, make([]byte, int(s.Bavail)*int(s.Bsize)), 0o600); err != nil {
		t.Fatal(err)
	}
	f.open("full")
	return f
}

func (f *fullDisk) untilPrinted(want string) {
	f.t.Helper()
	await.Until(f.t, fmt.Sprintf("the log has %q", want), func() bool {
		_, err := os.Stat(f.c.LogPath)
		return err == nil && strings.HasSuffix(f.output(f.c), want)
	})
}

func (f *fullDisk) open(gate string) {
	f.t.Helper()
	write(f.t, filepath.Join(f.gates, gate), "")
}

func (f *fullDisk) makeRoom() {
	f.t.Helper()
	if err := os.Remove(f.other); err != nil {
		f.t.Fatal(err)
	}
}

// untilTold waits until the control plane is told that output is lost.
func (f *fullDisk) untilTold() runtime.LostOutput {
	f.t.Helper()
	s := await.Value(f.t, "the loss of output", f.Events())
	if s.ID != f.c.ID || s.State != runtime.Running || s.LostOutput == nil {
		f.t.Fatalf("told %+v", s)
	}
	return *s.LostOutput
}

// The server learns of it at once, the next one too, and both get the exact amount at the end.
func TestLostOutputIsReported(t *testing.T) {
	smalldisk.Run(t, 16, func(disk string) {
		before := time.Now()
		f := onFullDisk(t, disk)
		told := f.untilTold()
		if told.Reason != "no space left on device" || told.Since.Before(before) || told.Since.After(time.Now()) {
			t.Errorf("told of %+v", told)
		}
		f.Close()
		f.machine = startIn(t, disk, func(c *process.Config) { c.IdleExit = time.Hour })
		if s := f.list()[f.c.ID]; s.State != runtime.Running || s.LostOutput == nil || *s.LostOutput != told {
			t.Errorf("the next server is told of %+v, %+v", s, s.LostOutput)
		}
		f.open("more")
		await.Until(t, "all is printed", func() bool { _, err := os.Stat(filepath.Join(f.gates, "said")); return err == nil })
		f.makeRoom()
		f.open("room")
		s := f.wait(f.c.ID)
		out := f.output(f.c)
		if !strings.HasPrefix(out, "before\n") || !strings.HasSuffix(out, "\nafter\n") {
			t.Errorf("the log has %d bytes: %.60q", len(out), out)
		}
		lost := int64(len("before\n"+manyLines+manyLines+"after\n") - len(out))
		if s.ExitCode != 3 || s.LostOutput == nil || s.LostOutput.Bytes != lost || s.LostOutput.Since != told.Since {
			t.Errorf("ended as %+v, with %+v; %d bytes are not in the log", s, s.LostOutput, lost)
		}
	})
}

func TestTheNextHostKnowsOfLostOutput(t *testing.T) {
	smalldisk.Run(t, 16, func(disk string) {
		f := onFullDisk(t, disk)
		f.untilTold()
		if err := syscall.Kill(f.hostPID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		f.makeRoom()
		if s := f.wait(f.c.ID); !s.Lost || s.LostOutput == nil {
			t.Errorf("reported as %+v", s)
		}
	})
}

// A control plane of an older version takes the status of a running container for what it knows already.
func TestAnOldControlPlaneIsToldNothingItDoesNotKnow(t *testing.T) {
	type oldStatus struct {
		runtime.ID
		State runtime.State
	}
	here, there := connected(t)
	if err := here.Send(wire.Batch{Events: []runtime.Status{{State: runtime.Running, LostOutput: &runtime.LostOutput{Bytes: 7}}}}); err != nil {
		t.Fatal(err)
	}
	var got struct{ Events []oldStatus }
	if err := there.Receive(&got); err != nil || len(got.Events) != 1 || got.Events[0].State != runtime.Running {
		t.Errorf("%+v, %v", got, err)
	}
}

// connected returns both ends of a connection.
func connected(t *testing.T) (here, there *wire.Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends []*wire.Conn
	for _, fd := range fds {
		file := os.NewFile(uintptr(fd), "socket")
		socket, err := net.FileConn(file)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { socket.Close() })
		ends = append(ends, wire.NewConn(socket.(*net.UnixConn)))
	}
	return ends[0], ends[1]
}
