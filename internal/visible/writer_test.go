package visible

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// written returns what a Writer makes of text that is written in pieces.
func written(t testing.TB, pieces ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, p := range pieces {
		if n, err := w.Write([]byte(p)); n != len(p) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func FuzzWriter(f *testing.F) {
	for _, text := range []string{"plain ✓", "\x1b[31mred\a", "eight bits \u009b31m", "not text \x9b\xff\xe6\x97", "turned \u202e round", "日本\n\t"} {
		f.Add(text, 1, 2)
	}
	f.Fuzz(func(t *testing.T, text string, first, second int) {
		got := written(t, text)
		if raw(got) {
			t.Errorf("%q became %q", text, got)
		}
		if !raw(text) && !strings.ContainsAny(text, "\ufffe\uffff") && got != text {
			t.Errorf("%q has nothing to escape, and became %q", text, got)
		}
		i := abs(first) % (len(text) + 1)
		j := i + abs(second)%(len(text)-i+1)
		if again := written(t, text[:i], text[i:j], text[j:]); again != got {
			t.Errorf("%q, divided at %d and %d, became %q, else %q", text, i, j, again, got)
		}
	})
}

func abs(n int) int { return max(n, -(n + 1)) }

func TestTextIsShownAlikeWhereverItIsDivided(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		characters := rapid.SliceOf(rapid.SampledFrom([]string{"a", "é", "日", "👩", "\u009b", "\u202e", "\x1b", "\x9b", "\xe6", "\xf0\x9f", "\xff"}))
		text := strings.Join(characters.Draw(t, "text"), "")
		var pieces []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if got, want := writtenTo(pieces), Text(text); got != want {
			t.Fatalf("%q became %q, want %q", pieces, got, want)
		}
	})
}

func writtenTo(pieces []string) string {
	var b strings.Builder
	w := NewWriter(&b)
	for _, p := range pieces {
		_, _ = io.WriteString(w, p)
	}
	_ = w.Close()
	return b.String()
}

func TestALetterIsShownAsSoonAsItIsWhole(t *testing.T) {
	var b strings.Builder
	w := NewWriter(&b)
	for _, step := range []struct{ write, shown string }{{"a", "a"}, {"\xe6", "a"}, {"\x97", "a"}, {"\xa5", "a日"}, {"\xe6b", `a日\xe6b`}} {
		if _, err := io.WriteString(w, step.write); err != nil || b.String() != step.shown {
			t.Errorf("after %q: %q, want %q (%v)", step.write, b.String(), step.shown, err)
		}
	}
}

func TestWhatAProgramReadsStaysExact(t *testing.T) {
	var b strings.Builder
	w := NewWriter(&b)
	w.Exact()
	if _, err := io.WriteString(w, "\x1b\x9b\xe6"); err != nil || b.String() != "\x1b\x9b\xe6" {
		t.Errorf("%q %v", b.String(), err)
	}
}

func TestWhatIsWrittenToTheStreamBehindStaysUnchanged(t *testing.T) {
	var b strings.Builder
	w := NewWriter(&b)
	if _, err := io.WriteString(Unchanged(w), "\x1b[1m"); err != nil || b.String() != "\x1b[1m" {
		t.Errorf("%q %v", b.String(), err)
	}
	if Unchanged(&b) != io.Writer(&b) {
		t.Error("another stream is returned")
	}
}

func TestAFailedWriteIsReported(t *testing.T) {
	n, err := NewWriter(failing{}).Write([]byte("text"))
	if n != 0 || !errors.Is(err, syscall.EPIPE) {
		t.Error(n, err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, syscall.EPIPE }
