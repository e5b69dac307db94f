package process_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-dev/stint/internal/node/runtime"
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
