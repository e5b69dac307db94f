package process_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// leash ties processes to a test, whatever their names and process ids are: they end when the test ends, and the test
// sees whether one of them is alive.
type leash struct {
	// in is a pipe that the processes read and only the test writes, out one that only the processes write.
	in, out string
	fd      int
}

func newLeash(t *testing.T) *leash {
	t.Helper()
	dir := t.TempDir()
	l := &leash{in: filepath.Join(dir, "in"), out: filepath.Join(dir, "out")}
	open := func(path string, flags int) int {
		if err := unix.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		fd, err := unix.Open(path, flags|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		return fd
	}
	open(l.in, unix.O_RDWR)
	l.fd = open(l.out, unix.O_RDONLY)
	return l
}

// command is a program that runs until the test ends.
func (l *leash) command() string { return "dd status=none if=" + l.in + " of=" + l.out }

// holds reports whether one of the processes is alive.
func (l *leash) holds() bool {
	_, err := unix.Read(l.fd, make([]byte, 1))
	return err == unix.EAGAIN
}

// The parent-death signal ends only the main process of a container. Its descendants end with the pid namespace of the
// host, or are killed by the next host.
func TestDescendantsOfContainersEndAfterTheirHost(t *testing.T) {
	for name, change := range levelChanges {
		t.Run(name+", killed while a server runs", func(t *testing.T) {
			m := start(t, change)
			leashes := startEscapes(t, m)
			end(t, m.hostPID(), unix.SIGKILL)
			for id := range leashes {
				if s := m.wait(id); !s.Lost {
					t.Errorf("reported as %+v", s)
				}
			}
			checkEnded(t, leashes)
		})
		t.Run(name+", terminated while no server runs", func(t *testing.T) {
			dir := t.TempDir()
			m := startIn(t, dir, change)
			leashes := startEscapes(t, m)
			host, hasPIDNamespace := m.hostPID(), m.Info().Isolation == "user and pid namespaces"
			m.Close()
			end(t, host, unix.SIGTERM)
			if hasPIDNamespace {
				// The host was its first process: the kernel kills the others before it reports the end of this one.
				checkEnded(t, leashes)
			}
			startIn(t, dir, change)
			checkEnded(t, leashes)
		})
	}
}

// startEscapes starts a container for each of the escapes.
func startEscapes(t *testing.T, m *machine) map[runtime.ID]*leash {
	t.Helper()
	leashes := map[runtime.ID]*leash{}
	for name, script := range escapes {
		if strings.Contains(script, "env -i") && m.Info().Isolation == "process group" {
			continue // The next host cannot find it.
		}
		l := newLeash(t)
		c := m.container("sh", "-c", strings.ReplaceAll(script, "sleep FOREVER", l.command())+"\ncat "+l.in)
		c.Container = strings.ReplaceAll(name, " ", "-")
		m.start(c)
		await.Until(t, name+" runs", l.holds)
		leashes[c.ID] = l
	}
	return leashes
}

// end signals a process and waits until it has ended. Its parent may not have reaped it yet.
func end(t *testing.T, pid int, signal syscall.Signal) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.PidfdSendSignal(fd, signal, nil, 0); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the process has ended", func() bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return err == nil && n > 0
	})
}

func checkEnded(t *testing.T, leashes map[runtime.ID]*leash) {
	t.Helper()
	for id, l := range leashes {
		if l.holds() {
			t.Errorf("%s has outlived the host", id.Container)
		}
	}
}
