package process_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/process/rundir"
	"github.com/stint-dev/stint/internal/node/process/wire"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/unprivileged"
)

// hello sends h to the machine's host, as a control plane of another version would.
func (m *machine) hello(h wire.Hello) wire.Welcome {
	m.t.Helper()
	socket, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: filepath.Join(m.runDir(), "host.sock"), Net: "unix"})
	if err != nil {
		m.t.Fatal(err)
	}
	defer socket.Close()
	conn := wire.NewConn(socket)
	if err := conn.Send(h); err != nil {
		m.t.Fatal(err)
	}
	var w wire.Welcome
	if err := conn.Receive(&w); err != nil {
		m.t.Fatal(err)
	}
	return w
}

func TestAHostRefusesWhatItCannotServe(t *testing.T) {
	m := start(t)
	c := m.container("sleep", "1000")
	m.start(c)
	dir := filepath.Join(m.dir, "data")
	for name, test := range map[string]struct {
		hello wire.Hello
		want  string
	}{
		"another version of the protocol":              {wire.Hello{Protocol: 99, Dir: dir}, "version 99"},
		"another data directory":                       {wire.Hello{Protocol: wire.Protocol, Dir: "/other"}, "not of /other"},
		"to be replaced while it has a control plane ": {wire.Hello{Protocol: 99, Dir: dir, Replace: true}, "version 99"},
	} {
		t.Run(name, func(t *testing.T) {
			if w := m.hello(test.hello); !strings.Contains(w.Refused, test.want) || w.Live != 1 || !w.Stays {
				t.Errorf("answered %+v", w)
			}
		})
	}
	if s := m.run(m.container("true")); s.ExitCode != 0 {
		t.Errorf("the host has suffered: %+v", s)
	}
}

// The copy also has the file that names the run directory of the original.
func TestACopyOfADataDirectoryHasAHostOfItsOwn(t *testing.T) {
	m := start(t)
	m.start(m.container("sleep", "1000"))
	dir := t.TempDir()
	name := filepath.Base(m.runDir())
	write(t, filepath.Join(dir, rundir.PointerName), name)
	other, err := process.Start(await.Context(t), configOf(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if all, err := other.List(await.Context(t)); err != nil || len(all) != 0 {
		t.Errorf("it has the containers of the original: %v, %v", all, err)
	}
	if now := filepath.Base(m.runDir()); now != name {
		t.Errorf("the original is led to %s, no longer to %s", now, name)
	}
}

func TestADataDirectoryThatWasMovedWhileContainersRunIsToldWhatToDo(t *testing.T) {
	m := start(t)
	m.start(m.container("sleep", "1000"))
	data, moved := filepath.Join(m.dir, "data"), filepath.Join(t.TempDir(), "data")
	if err := os.Rename(data, moved); err != nil {
		t.Fatal(err)
	}
	_, err := process.Start(await.Context(t), configOf(moved))
	if back := os.Rename(moved, data); back != nil {
		t.Fatal(back)
	}
	if err == nil || !strings.Contains(err.Error(), "not of "+moved+": if that was moved, let the containers end first") {
		t.Fatalf("started with %v", err)
	}
	if strings.Contains(err.Error(), "has not answered") {
		t.Errorf("it has waited for a host that stays: %v", err)
	}
}

// Its host knows it by the old path. The next start waits if that host is about to end.
func TestADataDirectoryThatWasMovedWhileNothingRunsIsServed(t *testing.T) {
	m := start(t)
	m.Close()
	moved := filepath.Join(t.TempDir(), "data")
	if err := os.Rename(filepath.Join(m.dir, "data"), moved); err != nil {
		t.Fatal(err)
	}
	r, err := process.Start(await.Context(t), configOf(moved))
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
}

// makeRunDir makes a run directory for a host that the test imitates.
func makeRunDir(t *testing.T, dataDir string) string {
	t.Helper()
	run, err := rundir.FindOrMake(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rundir.Remove(run, "host.sock", "lock", "host.log") })
	return run
}

// oldHost imitates a host of another version.
func oldHost(t *testing.T, live int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	run := makeRunDir(t, dir)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(run, "host.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			socket, err := listener.AcceptUnix()
			if err != nil {
				return
			}
			conn := wire.NewConn(socket)
			var h wire.Hello
			if conn.Receive(&h) == nil {
				_ = conn.Send(wire.Welcome{Protocol: 99, Live: live, Refused: "it speaks version 99"})
			}
			conn.Close()
			if h.Replace {
				listener.Close()
				return
			}
		}
	}()
	return dir
}

func TestAHostOfAnotherVersionKeepsItsContainers(t *testing.T) {
	_, err := process.Start(await.Context(t), configOf(oldHost(t, 2)))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("host process %d is of another version", os.Getpid())) || !strings.Contains(err.Error(), "2 containers") {
		t.Errorf("started with %v", err)
	}
}

func TestAnIdleHostOfAnotherVersionIsReplaced(t *testing.T) {
	dir := oldHost(t, 0)
	r, err := process.Start(await.Context(t), configOf(dir))
	if err != nil {
		t.Fatal(err)
	}
	if r.Info().Name != "process" {
		t.Errorf("info %+v", r.Info())
	}
	run := runDirOf(t, dir)
	r.Close()
	await.Until(t, "the new host has ended", func() bool { return isGone(run) })
}

// After an upgrade a host of the new program is started, unless the old one is busy.
func TestAHostOfAnotherProgramIsReplacedWhenItIsIdle(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other")
	unprivileged.CopyProgram(t, other)
	m := start(t, func(c *process.Config) { c.Executable = other })
	c := m.container("sleep", "1000")
	m.start(c)
	before := m.hostPID()
	busy, err := process.Start(await.Context(t), configOf(filepath.Join(m.dir, "data")))
	if err != nil {
		t.Fatal(err)
	}
	if now := m.hostPID(); now != before {
		t.Errorf("a host with a container was replaced")
	}
	busy.Close()
	if err := m.RemovePod(await.Context(t), c.PodUID, ""); err != nil {
		t.Fatal(err)
	}
	m.Close()
	idle, err := process.Start(await.Context(t), configOf(filepath.Join(m.dir, "data")))
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if now := m.hostPID(); now == before {
		t.Errorf("an idle host was not replaced")
	}
	if all, err := idle.List(await.Context(t)); err != nil || len(all) != 1 || all[0].ID != c.ID {
		t.Errorf("the new host knows of %v, %v", all, err)
	}
	if err := idle.Forget(await.Context(t), c.ID); err != nil {
		t.Fatal(err)
	}
}

func TestAHostThatCannotStartSaysWhy(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho out of order >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	config := configOf(t.TempDir())
	config.Executable = broken
	_, err := process.Start(await.Context(t), config)
	if err == nil || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("started with %v", err)
	}
	if _, err := process.Start(t.Context(), process.Config{}); err == nil {
		t.Error("started without a data directory")
	}
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	before := goleak.IgnoreCurrent()
	m := start(t)
	m.run(m.container("true"))
	m.leave()
	await.Until(t, "no goroutine is left", func() bool {
		left := goleak.Find(before)
		if left != nil {
			t.Log(left)
		}
		return left == nil
	})
}

func TestACallEndsWithItsContext(t *testing.T) {
	m := start(t)
	// A host that is stopped does not answer.
	pid := m.hostPID()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the host stands still", func() bool {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err == nil && strings.Contains(string(data), ") T ")
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond) // A longer timeout would not change the result.
	defer cancel()
	_, err := m.List(ctx)
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended with %v", err)
	}
	if _, err := m.List(await.Context(t)); err != nil {
		t.Errorf("the next call: %v", err)
	}
}
