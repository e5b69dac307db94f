package process_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// list returns the status of all attempts that the host has not forgotten.
func (m *machine) list() map[runtime.ID]runtime.Status {
	m.t.Helper()
	all, err := m.List(await.Context(m.t))
	if err != nil {
		m.t.Fatal(err)
	}
	byID := map[runtime.ID]runtime.Status{}
	for _, s := range all {
		byID[s.ID] = s
	}
	return byID
}

func TestContainersRunOnWithoutAControlPlane(t *testing.T) {
	dir := t.TempDir()
	m := startIn(t, dir)
	go_ := filepath.Join(dir, "go")
	short := m.container("sh", "-c", "while ! test -e "+go_+"; do sleep 0.01; done; echo out; exit 3")
	long := m.container("sleep", "1000")
	m.start(short)
	pid := m.start(long).PID
	m.Close()
	if err := os.WriteFile(go_, nil, 0o644); err != nil {
		t.Fatal(err)
	}

	m = startIn(t, dir, func(c *process.Config) { c.IdleExit = time.Hour })
	await.Until(t, "the exit is in the list", func() bool { return m.list()[short.ID].State == runtime.Exited })
	if s := m.list()[short.ID]; s.ExitCode != 3 || s.Lost {
		t.Errorf("ended as %+v", s)
	}
	if got := m.output(short); got != "out\n" {
		t.Errorf("printed %q", got)
	}
	if s := m.start(long); s.State != runtime.Running || s.PID != pid {
		t.Errorf("not the same process: %+v, was %d", s, pid)
	}
	if s := m.start(short); s.State != runtime.Exited {
		t.Errorf("ran again: %+v", s)
	}
	if err := m.Forget(t.Context(), short.ID, long.ID); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(1, len(m.list())); diff != "" {
		t.Errorf("forgotten is what has ended and nothing else: %s", diff)
	}
}

func TestWhatTheControlPlaneHasNotTakenSurvivesTheHost(t *testing.T) {
	dir := t.TempDir()
	m := startIn(t, dir)
	c := m.container("sh", "-c", "exit 4")
	m.run(c)
	run := m.runDir()
	m.Close()
	await.Until(t, "the idle host ends", func() bool {
		_, err := os.Stat(filepath.Join(run, "host.sock"))
		return os.IsNotExist(err)
	})
	m = startIn(t, dir)
	if s := m.list()[c.ID]; s.State != runtime.Exited || s.ExitCode != 4 || s.Lost {
		t.Errorf("remembered as %+v", s)
	}
}

func TestContainersEndWithTheirHost(t *testing.T) {
	onEveryLevel(t, func(t *testing.T, m *machine) {
		n := unique()
		ended := m.container("sh", "-c", "exit 6")
		m.run(ended)
		lost := m.container("sh", "-c", "(setsid sleep "+n+" &); sleep "+n)
		if info := m.Info(); info.EnforcesMemory && info.EnforcesCPU {
			lost.MemoryLimitBytes, lost.CPUMilliLimit = 64<<20, 500
		}
		m.start(lost)
		await.Until(t, "the container has children", func() bool { return alive(t, "sleep\x00"+n) == 2 })
		if err := syscall.Kill(m.hostPID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if s := m.wait(lost.ID); !s.Lost || s.State != runtime.Exited {
			t.Errorf("reported as %+v", s)
		}
		if alive(t, n) != 0 {
			t.Error("the container has outlived its host")
		}
		all := m.list()
		if s := all[ended.ID]; s.ExitCode != 6 || s.Lost {
			t.Errorf("the end of the other one is now %+v", s)
		}
		if s := m.start(lost); !s.Lost {
			t.Errorf("it ran again: %+v", s)
		}
		if s := m.run(m.container("true")); s.ExitCode != 0 || s.StartError != "" {
			t.Errorf("the next host does not work: %+v", s)
		}
	})
}

func TestAHostOfAnotherDataDirectoryIsAnother(t *testing.T) {
	a, b := start(t), start(t)
	c := a.container("sleep", "1000")
	a.start(c)
	if len(b.list()) != 0 {
		t.Error("one sees the containers of the other")
	}
	if a.hostPID() == b.hostPID() {
		t.Error("both have one host")
	}
}

// Two data directories may have the same pods, if one is a copy of the other.
func TestAHostLeavesTheSamePodOfAnotherDataDirectoryAlone(t *testing.T) {
	a, b := start(t), start(t)
	lost, stays := a.container("sleep", "1000"), b.container("sleep", "1000")
	if lost.ID != stays.ID {
		t.Fatalf("%v is not %v", lost.ID, stays.ID)
	}
	a.start(lost)
	b.start(stays)
	if err := syscall.Kill(a.hostPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if s := a.wait(lost.ID); !s.Lost {
		t.Errorf("reported as %+v", s)
	}
	// If another host had killed it, it would not have ended by this signal.
	b.stop(stays.ID, time.Hour)
	if s := b.wait(stays.ID); s.Signal != 15 {
		t.Errorf("ended as %+v", s)
	}
}

func TestTwoControlPlanesFindOneHost(t *testing.T) {
	dir := t.TempDir()
	m := startIn(t, dir)
	second, err := process.Start(await.Context(t), configOf(filepath.Join(dir, "data")))
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	c := m.container("sleep", "1000")
	m.start(c)
	all, err := second.List(await.Context(t))
	if err != nil || len(all) != 1 {
		t.Errorf("the second one sees %v (%v)", all, err)
	}
}

func TestCloseEndsCallsAndEvents(t *testing.T) {
	m := startIn(t, t.TempDir())
	m.Close()
	if _, open := <-m.Events(); open {
		t.Error("events go on")
	}
	if _, err := m.Start(t.Context(), m.container("true")); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("start after close: %v", err)
	}
}
