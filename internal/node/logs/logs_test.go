package logs_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/logs"
)

var t0 = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// line is a log line n seconds after t0.
func line(n int, stream, tag, text string) string {
	return fmt.Sprintf("%s %s %s %s\n", t0.Add(time.Duration(n)*time.Second).Format(time.RFC3339Nano), stream, tag, text)
}

func write(t testing.TB, path string, lines ...string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.WriteString(strings.Join(lines, "")); err != nil {
		t.Fatal(err)
	}
}

func all() logs.Options { return logs.Options{Tail: -1, Limit: -1} }

func read(t testing.TB, path string, o logs.Options) string {
	t.Helper()
	r := logs.Open(t.Context(), path, nil, o)
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	write(t, path+".20260102-150401", line(-3, "stdout", "F", "first"))
	write(t, path+".20260102-150403", line(-1, "stdout", "F", "second"))
	write(t, path,
		line(1, "stdout", "P", "lo"), line(2, "stdout", "F", "ng"),
		line(3, "stderr", "F", "oops"), "torn by a cra\n", line(4, "stdout", "F", ""), line(5, "stdout", "F", "last"))
	for sentence, c := range map[string]struct {
		change func(*logs.Options)
		want   string
	}{
		"all of it, from the oldest file on": {func(*logs.Options) {}, "first\nsecond\nlong\noops\n\nlast\n"},
		"the last lines, over files":         {func(o *logs.Options) { o.Tail = 5 }, "second\nlong\noops\n\nlast\n"},
		"no lines":                           {func(o *logs.Options) { o.Tail = 0 }, ""},
		"more lines than there are":          {func(o *logs.Options) { o.Tail = 100 }, "first\nsecond\nlong\noops\n\nlast\n"},
		"since a time":                       {func(o *logs.Options) { o.Since = t0.Add(3 * time.Second) }, "oops\n\nlast\n"},
		"the last of what came since":        {func(o *logs.Options) { o.Since, o.Tail = t0.Add(3*time.Second), 1 }, "last\n"},
		"one stream":                         {func(o *logs.Options) { o.Stream = "stderr" }, "oops\n"},
		"up to a limit":                      {func(o *logs.Options) { o.Limit = 8 }, "first\nse"},
		"with times": {func(o *logs.Options) { o.Timestamps, o.Tail = true, 4 },
			"2026-01-02T15:04:06Z long\n2026-01-02T15:04:08Z oops\n2026-01-02T15:04:09Z \n2026-01-02T15:04:10Z last\n"},
	} {
		t.Run(sentence, func(t *testing.T) {
			o := all()
			c.change(&o)
			if got := read(t, path, o); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestNoFileIsAnEmptyLog(t *testing.T) {
	if got := read(t, filepath.Join(t.TempDir(), "none", "0.log"), all()); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestLast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	write(t, path, line(0, "stdout", "F", "a"), line(1, "stdout", "F", "bb"), line(2, "stdout", "F", "ccc"))
	if got, err := logs.Last(path, 2, 5); err != nil || got != "\nccc\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

// A follower reads every line once, over a rotation, and ends with the container.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	ended := make(chan struct{})
	o := all()
	o.Follow = true
	r := logs.Open(t.Context(), path, ended, o)
	defer func() { _ = r.Close() }()
	lines := bufio.NewScanner(r)
	expect := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("got %q, %v, want %q", lines.Text(), lines.Err(), want)
		}
	}
	write(t, path, line(0, "stdout", "F", "one"))
	expect("one")
	half := line(1, "stdout", "F", "two")
	write(t, path, half[:20])
	write(t, path, half[20:], line(2, "stdout", "F", "three"))
	expect("two")
	expect("three")
	write(t, path, line(3, "stdout", "F", "four"))
	if err := os.Rename(path, path+".20260102-150409"); err != nil {
		t.Fatal(err)
	}
	write(t, path, line(4, "stdout", "F", "five"))
	expect("four")
	expect("five")
	write(t, path, line(5, "stdout", "F", "six"))
	close(ended)
	expect("six")
	if lines.Scan() || lines.Err() != nil {
		t.Errorf("after the end came %q, %v", lines.Text(), lines.Err())
	}
}

func TestClosedFollowerStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := all()
	o.Follow = true
	r := logs.Open(ctx, filepath.Join(t.TempDir(), "0.log"), make(chan struct{}), o)
	cancel()
	if text, err := io.ReadAll(r); err != nil || len(text) > 0 {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestOptionsFrom(t *testing.T) {
	got := logs.OptionsFrom(&corev1.PodLogOptions{
		Follow: true, SinceSeconds: ptr.To(int64(5)), TailLines: ptr.To(int64(3)), LimitBytes: ptr.To(int64(9)), Stream: ptr.To("Stderr"),
	}, t0)
	want := logs.Options{Follow: true, Since: t0.Add(-5 * time.Second), Tail: 3, Limit: 9, Stream: "stderr"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Whatever is in a log file, reading it ends without an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(line(0, "stdout", "F", "x")), int64(-1))
	f.Add([]byte("2026-01-02T15:04:05Z stdout F"), int64(1))
	f.Add([]byte("\n\n \n  \n"), int64(0))
	f.Fuzz(func(t *testing.T, content []byte, tail int64) {
		path := filepath.Join(t.TempDir(), "0.log")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		o := all()
		o.Tail = tail
		if out := read(t, path, o); len(out) > len(content) {
			t.Errorf("%d bytes of log gave %d bytes of output", len(content), len(out))
		}
	})
}
