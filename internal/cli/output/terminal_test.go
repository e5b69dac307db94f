package output

import (
	"io"
	"strings"
	"testing"

	"github.com/stint-dev/stint/internal/image/progress"
	"github.com/stint-dev/stint/internal/visible"
)

func TestWhatPodsWriteCannotSpoilTheDisplay(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"plain text":                           {"hello", "hello"},
		"wide letters, marks and emoji":        {"héllo 世界 e\u0301 👩‍👩‍👧", "héllo 世界 e\u0301 👩‍👩‍👧"},
		"a line end of another system":         {"hello\r", "hello"},
		"a progress bar, in its last state":    {"10%\r50%\r100%\r", "100%"},
		"a tab":                                {"a\tb", "a    b"},
		"colours, ended with the line":         {"\x1b[1;31mred", "\x1b[1;31mred\x1b[m"},
		"a screen that is cleared":             {"\x1b[2J\x1b[Hhello", "hello"},
		"a cursor that moves up and erases":    {"a\x1b[3A\x1b[Kb", "ab"},
		"private modes":                        {"\x1b[?1049h\x1b[?25lhello", "hello"},
		"a title, a link and a bell":           {"\x1b]0;title\x07\x1b]8;;http://example.com\x1b\\link\x07", "link"},
		"a sequence that does not end":         {"hello\x1b[", "hello"},
		"backspaces and other controls":        {"a\bb\x00\x7f\vc", "abc"},
		"text whose direction is turned round": {"a\u202eb", "ab"},
		"nothing":                              {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := OnScreen(c.text); got != c.want {
				t.Errorf("%q is shown as %q, want %q", c.text, got, c.want)
			}
		})
	}
}

func TestBytesThatAreNoTextAreShownSomehow(t *testing.T) {
	got := OnScreen("caf\xe9 \xff ok")
	if !strings.HasPrefix(got, "caf") || !strings.HasSuffix(got, " ok") {
		t.Errorf("shown as %q", got)
	}
}

func TestFailuresCannotSpoilTheDisplay(t *testing.T) {
	failure := PodFailure{Pod: "p", Containers: []ContainerFailure{{ExitCode: 1, Message: "bad\x1b[2J\nnews"}}, LastLines: []string{"\x1b[Hlast"}}
	got := strings.Join(conclusion(Result{Pods: []PodFailure{failure}}), "\n")
	if want := "job  failed\n  pod p failed: exit code 1: bad\\x1b[2J news\n    | last"; got != want {
		t.Errorf("explained as %q, want %q", got, want)
	}
}

func TestFurtherFailedPods(t *testing.T) {
	one := []PodFailure{{Pod: "p"}}
	for name, c := range map[string]struct {
		result Result
		want   string
	}{
		"one, and none is explained":    {Result{Results: "stint results j", MorePods: 1}, "1 failed pod: see stint results j"},
		"one more":                      {Result{Results: "stint results j", Pods: one, MorePods: 1}, "and 1 more failed pod: see stint results j"},
		"several, and one is explained": {Result{Results: "stint results j", Pods: one, MorePods: 7}, "and 7 more failed pods: see stint results j"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := conclusion(c.result)
			if got := strings.TrimSpace(lines[len(lines)-1]); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// acting is text that acts on a terminal.
const acting = "\x1b[2J\a\u009b2J"

func TestOnlyLinesOfContainersAreNotEscaped(t *testing.T) {
	job := Job{Name: "j" + acting}
	failure := PodFailure{Job: job, Pod: acting, Containers: []ContainerFailure{{ExitCode: 1, Message: acting}}}
	show := func(o Output) {
		o.Note(acting)
		o.Start(job, Replaced)
		o.JobWaiting(JobWait{Job: job, For: []string{acting}})
		o.PodWaiting(PodWait{Job: job, Pod: acting, Message: acting})
		o.PodFailed(failure)
		o.Pull(Pull{Pull: progress.Pull{Image: acting}})
		o.Pull(Pull{Pull: progress.Pull{Image: acting}, Ended: true, Arrived: true})
		o.Finish(Result{Job: job, Outcome: Failed, Message: acting, Pods: []PodFailure{failure}, Results: acting})
	}
	var status strings.Builder
	p := NewPlain(io.Discard, &status, false)
	show(p)
	if got := strings.Count(status.String(), acting); got > 0 || !strings.Contains(status.String(), visible.Text(acting)) {
		t.Errorf("plain: %q", status.String())
	}
	var drawn strings.Builder
	l := newLive(&drawn, func() (int, int) { return 200, 50 })
	show(l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(drawn.String(), acting); got > 0 || !strings.Contains(drawn.String(), visible.Text(acting)) {
		t.Errorf("live: %q", drawn.String())
	}
}

func TestStatusLinesAreEscaped(t *testing.T) {
	var s screen
	s.update(Progress{Job: Job{Name: "a"}, Failure: acting})
	s.update(Progress{Job: Job{Name: "b"}, Order: 1, WaitsFor: []string{acting}})
	s.pulls.update(Pull{Pull: progress.Pull{Image: acting}})
	for _, line := range s.lines(200, 50) {
		if visible.Text(line) != line || !strings.Contains(line, visible.Text(acting)) {
			t.Errorf("%q", line)
		}
	}
}
