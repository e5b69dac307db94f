package output

import (
	"strings"
	"testing"
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
	got := strings.Join(explain(Result{Pods: []PodFailure{failure}}), "\n")
	if want := "  pod p failed: exit code 1: bad\\x1b[2J news\n    | last"; got != want {
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
			lines := explain(c.result)
			if got := strings.TrimSpace(lines[len(lines)-1]); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
