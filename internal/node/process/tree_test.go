package process_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// processesWith returns the directories in /proc of the processes that have word on their command line.
func processesWith(t *testing.T, word string) (dirs []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range all {
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if bytes.Contains(line, []byte(word)) && !bytes.Contains(line, []byte("container-host")) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func alive(t *testing.T, word string) int {
	t.Helper()
	return len(processesWith(t, word))
}

// logIfFailed logs the state of these processes and the output of the container if the test fails.
func logIfFailed(t *testing.T, word string, c runtime.Container) {
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		printed, _ := os.ReadFile(c.LogPath)
		t.Logf("printed: %s", printed)
		for _, dir := range processesWith(t, word) {
			line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			stat, _ := os.ReadFile(filepath.Join(dir, "stat"))
			sleeps, _ := os.ReadFile(filepath.Join(dir, "wchan"))
			t.Logf("%s%q sleeps in %s", stat, line, sleeps)
		}
	})
}

// escapes are ways for a process to leave its parent; each prints nothing and runs "sleep FOREVER".
var escapes = map[string]string{
	"a child in the background":           "sleep FOREVER &",
	"a child in a session of its own":     "setsid sleep FOREVER &",
	"an orphan in a session of its own":   "(setsid sleep FOREVER &)",
	"a daemon that has forked twice":      "(setsid sh -c '(setsid sleep FOREVER &)' &)",
	"a child without environment":         "env -i sleep FOREVER &",
	"an orphan that ignores all signals":  "(trap '' TERM HUP INT; setsid sh -c 'trap \"\" TERM HUP INT; sleep FOREVER' &)",
	"a child that holds the output open":  "sleep FOREVER & sleep FOREVER 2>&1 &",
	"an orphan that holds no output open": "(setsid sleep FOREVER >/dev/null 2>&1 </dev/null &)",
}

func TestNothingOutlivesItsContainer(t *testing.T) {
	onEveryLevel(t, func(t *testing.T, m *machine) {
		for name, script := range escapes {
			t.Run(name, func(t *testing.T) {
				n := unique()
				c := m.container("sh", "-c", strings.ReplaceAll(script, "FOREVER", n)+"\nsleep 0.05; exit 7")
				if s := m.run(c); s.ExitCode != 7 {
					t.Errorf("ended as %+v", s)
				}
				await.Until(t, "the tree is gone", func() bool { return alive(t, n) == 0 })
			})
			t.Run(name+", killed", func(t *testing.T) {
				n := unique()
				c := m.container("sh", "-c", "trap '' TERM; "+strings.ReplaceAll(script, "FOREVER", n)+
					"\nwhile :; do sleep "+n+"; done")
				logIfFailed(t, n, c)
				m.start(c)
				await.Until(t, "the container has children", func() bool { return alive(t, "sleep\x00"+n) >= 2 })
				m.stop(c.ID, 10*time.Millisecond)
				if s := m.wait(c.ID); s.Signal != 9 || s.ExitCode != 137 {
					t.Errorf("ended as %+v", s)
				}
				await.Until(t, "the tree is gone", func() bool { return alive(t, n) == 0 })
			})
		}
	})
}

// Each process forks and ends at once. When the host looks at one, it has ended and its child has another parent.
func TestAProcessThatIsAlwaysAnotherOneEndsWithItsContainer(t *testing.T) {
	m := start(t, func(c *process.Config) { c.NoCgroups = true })
	steps := filepath.Join(t.TempDir(), "steps")
	hop := "hop() { echo >> " + steps + "; hop & }; hop"
	m.start(m.container("sleep", "1000")) // an orphan might belong to this one
	for range 100 {
		m.run(m.container("sh", "-c", "setsid sh -c '"+hop+"' & until [ -e "+steps+" ]; do :; done"))
		m.checkNoStep(steps)
	}
}

// checkNoStep fails the test if a file still grows, to which a process appends at each of its steps. It removes the file.
func (m *machine) checkNoStep(steps string) {
	m.t.Helper()
	before, err := os.Stat(steps)
	if err != nil {
		m.t.Fatal(err)
	}
	m.run(m.container("true")) // takes longer than a step
	if after, err := os.Stat(steps); err != nil || after.Size() != before.Size() {
		m.t.Fatalf("it went from step %d to %v (%v) when its container had ended", before.Size(), after, err)
	}
	if err := os.Remove(steps); err != nil {
		m.t.Fatal(err)
	}
}

var uniques = 0

// unique is a duration that no other process sleeps. None is a part of another one's text.
func unique() string {
	uniques++
	return fmt.Sprintf("98%06d.%07ds", uniques, os.Getpid())
}

func (m *machine) stop(id runtime.ID, grace time.Duration) {
	m.t.Helper()
	if err := m.Stop(await.Context(m.t), id, grace); err != nil {
		m.t.Fatal(err)
	}
}

func TestStop(t *testing.T) {
	onEveryLevel(t, func(t *testing.T, m *machine) {
		t.Run("a plain program ends by SIGTERM", func(t *testing.T) {
			c := m.container("sleep", "1000")
			m.start(c)
			m.stop(c.ID, time.Hour)
			if s := m.wait(c.ID); s.Signal != 15 || s.ExitCode != 143 {
				t.Errorf("ended as %+v", s)
			}
		})
		t.Run("a program may end in its own way", func(t *testing.T) {
			c := m.container("sh", "-c", "trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done")
			m.start(c)
			await.Until(t, "the trap is set", func() bool { _, err := os.Stat(c.LogPath); return err == nil })
			m.stop(c.ID, time.Hour)
			if s := m.wait(c.ID); s.Signal != 0 || s.ExitCode != 9 {
				t.Errorf("ended as %+v", s)
			}
		})
		t.Run("a second stop shortens the grace and cannot extend it", func(t *testing.T) {
			c := m.container("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.01; done")
			m.start(c)
			await.Until(t, "the trap is set", func() bool { _, err := os.Stat(c.LogPath); return err == nil })
			m.stop(c.ID, time.Hour)
			m.stop(c.ID, 20*time.Millisecond)
			m.stop(c.ID, time.Hour)
			if s := m.wait(c.ID); s.Signal != 9 {
				t.Errorf("ended as %+v", s)
			}
		})
		t.Run("no grace kills at once", func(t *testing.T) {
			c := m.container("sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.01; done")
			m.start(c)
			m.stop(c.ID, 0)
			if s := m.wait(c.ID); s.Signal != 9 {
				t.Errorf("ended as %+v", s)
			}
		})
		t.Run("a container that nobody knows is no error", func(t *testing.T) {
			m.stop(runtime.ID{PodUID: "nobody", Container: "x"}, time.Second)
		})
	})
}

func TestOrphansAreReapedWhileTheirContainerRuns(t *testing.T) {
	m := start(t)
	if strings.Contains(m.Info().Isolation, "pid namespace") {
		t.Skip("the container's processes have other numbers here")
	}
	c := m.container("sh", "-c", "for i in 1 2 3 4 5; do (sh -c 'echo $$' &); sleep 0.01; done; sleep 1000")
	m.start(c)
	var orphans []string
	await.Until(t, "the orphans have printed their numbers", func() bool {
		orphans = strings.Fields(m.outputIfAny(c))
		return len(orphans) == 5
	})
	await.Until(t, "no orphan is left", func() bool {
		for _, pid := range orphans {
			if _, err := os.Stat("/proc/" + pid); err == nil {
				return false
			}
		}
		return true
	})
}
