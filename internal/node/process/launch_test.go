package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stint-dev/stint/internal/node/process/host"
	"github.com/stint-dev/stint/internal/node/process/rundir"
	"github.com/stint-dev/stint/test/await"
)

// twoLevels makes a launcher with a strong and a weak isolation level. The strong one starts the host through another program.
// Tried counts how often each was tried.
func twoLevels(t *testing.T, timeout time.Duration, through string) (l *launcher, tried *[2]int) {
	t.Helper()
	return twoLevelsIn(t, t.TempDir(), timeout, through)
}

func twoLevelsIn(t *testing.T, dir string, timeout time.Duration, through string) (l *launcher, tried *[2]int) {
	t.Helper()
	config, err := complete(Config{Dir: dir, StartTimeout: timeout, IdleExit: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	tried = new([2]int)
	level := func(i int, wrapper ...string) isolationLevel {
		return func(l *launcher, c *host.Config) (*exec.Cmd, error) {
			tried[i]++
			return l.command(c, wrapper...)
		}
	}
	l = &launcher{config: config, levels: []isolationLevel{level(0, through), level(1)}}
	t.Cleanup(func() {
		// A host that was killed has left files.
		if dir, err := rundir.Find(config.Dir); err == nil {
			_ = os.RemoveAll(dir)
		}
	})
	return l, tried
}

// script makes a program that runs text and then executes its arguments.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "through")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\nexec \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// end closes the link and waits until its host has ended.
func end(t *testing.T, l *link) {
	t.Helper()
	l.close()
	await.Until(t, "the host ends", func() bool {
		pid, err := syscall.Wait4(l.child, nil, syscall.WNOHANG, nil)
		return err != nil || pid != 0
	})
	l.hostLifetime.close()
}

// begin establishes a link in the background, through a program that waits until the file gate exists. It returns when
// that program runs.
func begin(t *testing.T, dataDir string) (l *launcher, tried *[2]int, gate string, started chan result) {
	t.Helper()
	dir := t.TempDir()
	gate = filepath.Join(dir, "gate")
	slow := script(t, "echo >> "+dir+"/begun; until [ -e "+gate+" ]; do sleep 0.01; done")
	l, tried = twoLevelsIn(t, dataDir, await.Limit, slow)
	started = make(chan result, 1)
	go func() {
		link, err := establish(await.Context(t), l)
		started <- result{link, err}
	}()
	await.Until(t, "the host has begun", func() bool {
		_, err := os.Stat(filepath.Join(dir, "begun"))
		return err == nil
	})
	return l, tried, gate, started
}

type result struct {
	link *link
	err  error
}

func TestASlowHostIsNotReplacedByAWeakerOne(t *testing.T) {
	_, tried, gate, started := begin(t, t.TempDir())
	if err := os.WriteFile(gate, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	got := await.Value(t, "the host answers", started)
	if got.err != nil {
		t.Fatal(got.err)
	}
	defer end(t, got.link)
	if *tried != [2]int{1, 0} {
		t.Errorf("the strong and the weak level were tried %d times", *tried)
	}
}

func TestASlowHostEndsWhereAnotherControlPlaneHasStartedOne(t *testing.T) {
	dir := t.TempDir()
	slow, _, _, started := begin(t, dir)
	fast := newLauncher(slow.config)
	first, err := establish(await.Context(t), fast)
	if err != nil {
		t.Fatal(err)
	}
	defer end(t, first)
	second := await.Value(t, "both have a host", started)
	if second.err != nil {
		t.Fatal(second.err)
	}
	defer second.link.close()
	if first.child != fast.pid || second.link.child != 0 {
		t.Errorf("the host is %d, of one control plane %d, and of the other %d", fast.pid, first.child, second.link.child)
	}
	await.Until(t, "the slow host is ended", func() bool { return errors.Is(syscall.Kill(slow.pid, 0), syscall.ESRCH) })
}

func TestAHostThatHangsFailsTheStart(t *testing.T) {
	l, tried := twoLevels(t, 50*time.Millisecond, script(t, "while :; do sleep 1; done"))
	link, err := establish(await.Context(t), l)
	if err == nil {
		end(t, link)
	}
	if err == nil || !strings.Contains(err.Error(), "has not answered within 50ms") || !strings.Contains(err.Error(), "--start-timeout") {
		t.Errorf("established with %v", err)
	}
	if *tried != [2]int{1, 0} {
		t.Errorf("the strong and the weak level were tried %d times", *tried)
	}
	await.Until(t, "the host is ended", func() bool { return errors.Is(syscall.Kill(l.pid, 0), syscall.ESRCH) })
}

func TestAHostThatIsRefusedIsStartedInTheNextWay(t *testing.T) {
	for name, through := range map[string]string{
		"the host fails":                script(t, "echo Operation not permitted >&2; exit 3"),
		"the process cannot be started": filepath.Join(t.TempDir(), "absent"),
		"the kernel ends the host":      script(t, "kill -SYS $$"),
	} {
		t.Run(name, func(t *testing.T) {
			l, tried := twoLevels(t, await.Limit, through)
			link, err := establish(await.Context(t), l)
			if err != nil {
				t.Fatal(err)
			}
			defer end(t, link)
			if *tried != [2]int{1, 1} {
				t.Errorf("the strong and the weak level were tried %d times", *tried)
			}
		})
	}
}
