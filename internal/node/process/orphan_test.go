package process_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/process/host"
	"github.com/stint-dev/stint/internal/node/process/rundir"
	"github.com/stint-dev/stint/internal/node/process/wire"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// inDir changes a directory with package beneath, because overlays leave a directory there that its owner may not read.
func inDir(path string, change func(*beneath.Dir) error) error {
	dir, err := beneath.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	return change(dir)
}

func remove(path string) error {
	return inDir(filepath.Dir(path), func(dir *beneath.Dir) error { return dir.Remove(context.Background(), filepath.Base(path)) })
}

// copyPointer makes a data directory that names a run directory, as a copy of another data directory does.
func copyPointer(t *testing.T, dir, runDir string) error {
	t.Helper()
	write(t, filepath.Join(dir, rundir.PointerName), filepath.Base(runDir)+"\n")
	return os.Chmod(dir, 0o700)
}

// isGone reports whether nothing is at path.
func isGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func TestADeletedDataDirectoryEndsItsHost(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, data, run string) error{
		"it is deleted": func(_ *testing.T, data, _ string) error { return remove(data) },
		"it is emptied": func(_ *testing.T, data, _ string) error {
			return inDir(data, func(dir *beneath.Dir) error { return dir.Empty(context.Background()) })
		},
		"a copy of it is back": func(t *testing.T, data, run string) error {
			return errors.Join(remove(data), copyPointer(t, data, run))
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := imager(t)
			tree, n := imageTree(t), unique()
			machines, images := m.container("sleep", n), m.imageContainer(tree, "sleep", n)
			m.start(machines)
			m.start(images)
			run := m.runDir()
			m.Close()
			if err := change(t, filepath.Join(m.dir, "data"), run); err != nil {
				t.Fatal(err)
			}
			next := startIn(t, m.dir)
			if left := alive(t, "sleep\x00"+n); left != 0 {
				t.Errorf("%d of its containers run on", left)
			}
			if !isGone(run) || len(m.cgroups(run)) != 0 {
				t.Errorf("its host has left %s, or cgroups", run)
			}
			if now := next.runDir(); now == run {
				t.Error("the next server has found its host")
			}
			if all := next.list(); len(all) != 0 {
				t.Errorf("the next server has its containers: %v", all)
			}
			next.printed(next.imageContainer(tree, "touch", "/tmp/f"))
		})
	}
}

func TestAnIdleHostOfADeletedDataDirectoryTakesNothingFromTheNext(t *testing.T) {
	m := imager(t)
	tree := imageTree(t)
	run := m.runDir()
	m.Close()
	if err := remove(filepath.Join(m.dir, "data")); err != nil {
		t.Fatal(err)
	}
	next := startIn(t, m.dir)
	if !isGone(run) {
		t.Error("the idle host runs on")
	}
	next.printed(next.imageContainer(tree, "touch", "/tmp/f"))
}

// A server may be started where the directory is now.
func TestAMovedDataDirectoryKeepsItsHostWhenAnotherTakesItsPlace(t *testing.T) {
	for name, replace := range map[string]func(t *testing.T, data, run string) error{
		"a new one":    func(*testing.T, string, string) error { return nil },
		"a copy of it": copyPointer,
	} {
		t.Run(name, func(t *testing.T) {
			m := imager(t)
			tree := imageTree(t)
			m.printed(m.imageContainer(tree, "true"))
			over := filepath.Join(t.TempDir(), "over")
			c := m.container("sh", "-c", "until test -e "+over+"; do sleep 0.01; done; exit 3")
			m.start(c)
			run := m.runDir()
			m.Close()
			data, moved := filepath.Join(m.dir, "data"), filepath.Join(t.TempDir(), "data")
			if err := errors.Join(os.Rename(data, moved), replace(t, data, run)); err != nil {
				t.Fatal(err)
			}
			next := startIn(t, m.dir)
			if all := next.list(); len(all) != 0 {
				t.Errorf("the other one has its containers: %v", all)
			}
			write(t, over, "")
			await.Until(t, "its host ends", func() bool { return isGone(filepath.Join(run, host.SocketName)) })
			next.printed(next.imageContainer(tree, "touch", "/tmp/f"))

			back := startIn(t, filepath.Dir(moved))
			if s := back.list()[c.ID]; s.State != runtime.Exited || s.ExitCode != 3 || s.Lost {
				t.Errorf("where it is now its container is known as %+v", s)
			}
		})
	}
}

// It may be that of a directory that was moved.
func TestAnOldHostThatDoesNotSayWhetherItIsOrphanedIsLeftAlone(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	run := makeRunDir(t, data)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(run, host.SocketName), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan wire.Request, 10)
	go func() {
		defer close(asked)
		for {
			socket, err := l.AcceptUnix()
			if err != nil {
				return
			}
			conn := wire.NewConn(socket)
			var hello wire.Hello
			_ = conn.Receive(&hello)
			_ = conn.Send(oldWelcome{Protocol: wire.Protocol, Live: 1, Info: oldInfo{Name: "process"}})
			for r := (wire.Request{}); conn.Receive(&r) == nil; r = (wire.Request{}) {
				asked <- r
			}
			if conn.Close(); hello.Replace {
				asked <- wire.Request{Op: "replace"}
			}
		}
	}()
	if err := remove(data); err != nil {
		t.Fatal(err)
	}
	r, err := process.Start(await.Context(t), configOf(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if all, err := r.List(await.Context(t)); err != nil || len(all) != 0 {
		t.Errorf("it has %v, %v", all, err)
	}
	l.Close()
	for r := range asked {
		t.Errorf("the old host was asked to %s", r.Op)
	}
}

func TestAHostOfADeletedDataDirectoryThatHasAServerIsNamed(t *testing.T) {
	m := start(t)
	pid, data := m.hostPID(), filepath.Join(m.dir, "data")
	if err := remove(data); err != nil {
		t.Fatal(err)
	}
	_, err := process.Start(await.Context(t), configOf(data))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("host process %d is used by the server of a directory", pid)) {
		t.Errorf("started with %v", err)
	}
	m.Close()
	startIn(t, m.dir)
}
