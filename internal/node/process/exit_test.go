package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

func TestExit(t *testing.T) {
	m := start(t)
	type end struct {
		Code, Signal int32
		Message      string
	}
	for name, test := range map[string]struct {
		script string
		want   end
	}{
		"a command that succeeds has exit code 0":           {"exit 0", end{}},
		"a command that fails has its own exit code":        {"exit 42", end{Code: 42}},
		"a command that ends by a signal has 128 and more":  {"kill -USR1 $$", end{Code: 138, Signal: 10}},
		"a command that is killed has 137":                  {"kill -KILL $$", end{Code: 137, Signal: 9}},
		"the termination message is read from its file":     {"echo enough > /dev/termination-log", end{Message: "enough\n"}},
		"the termination message is what was written last":  {"echo a > /dev/termination-log; echo b > /dev/termination-log; exit 3", end{Code: 3, Message: "b\n"}},
		"nothing written leaves no message of another one":  {"exit 1", end{Code: 1}},
		"a child that outlives the command does not matter": {"sleep 1000 & exit 5", end{Code: 5}},
	} {
		t.Run(name, func(t *testing.T) {
			c := m.container("sh", "-c", test.script)
			c.TerminationMessagePath = "/dev/termination-log"
			s := m.run(c)
			if s.State != runtime.Exited || s.StartError != "" || s.FinishedAt.Before(s.StartedAt) {
				t.Errorf("status %+v", s)
			}
			got := end{s.ExitCode, s.Signal, s.TerminationMessage}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAPipeThatSomebodyElseHoldsDoesNotDelayTheExit(t *testing.T) {
	m := start(t, func(c *process.Config) { c.NoNamespaces = true })
	c := m.container("sh", "-c", "echo before; exec sleep 1000")
	s := m.start(c)
	for _, fd := range []int{1, 2} {
		held, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/%d", s.PID, fd), os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer held.Close()
	}
	m.stop(c.ID, 0)
	if s := m.wait(c.ID); s.Signal != 9 {
		t.Errorf("ended as %+v", s)
	}
}

func TestTheKernelTakesContainersFirst(t *testing.T) {
	m := start(t)
	c := m.container("sh", "-c", `until test "$(cat /proc/self/oom_score_adj)" = 500; do sleep 0.01; done`)
	if s := m.run(c); s.ExitCode != 0 {
		t.Errorf("ended as %+v", s)
	}
}

func TestOutput(t *testing.T) {
	onEveryLevel(t, func(t *testing.T, m *machine) {
		silent := m.container("true")
		m.run(silent)
		if _, err := os.Stat(silent.LogPath); !os.IsNotExist(err) {
			t.Errorf("a container that prints nothing has a log (%v)", err)
		}
		gate := filepath.Join(t.TempDir(), "gate")
		c := m.container("sh", "-c", "echo out; echo err >&2; head -c 1000000 /dev/zero | tr '\\0' x; "+
			"(until [ -e "+gate+" ]; do sleep 0.01; done; echo lost) &")
		m.run(c)
		if n := alive(t, gate); n != 0 {
			t.Errorf("%d processes have outlived their container", n)
		}
		write(t, gate, "")
		await.Until(t, "whoever waited for the gate is done", func() bool { return alive(t, gate) == 0 })
		got := m.output(c)
		for _, want := range []string{"out\n", "err\n"} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is missing", want)
			}
		}
		if n := strings.Count(got, "x"); n != 1000000 || strings.Contains(got, "lost") {
			t.Errorf("%d of 1,000,000 bytes", n)
		}
	})
}
