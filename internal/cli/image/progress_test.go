package image

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/stint-dev/stint/internal/image/store"
)

func TestAPullLineIsDrawnWhenItsTextChanges(t *testing.T) {
	var out strings.Builder
	l := &pullLine{to: &out, width: 30, image: "docker.io/library/perl:5.34.0"}
	for done := int64(0); done <= 300_000_000; done += 100_000 {
		l.show(store.Progress{Done: done, Total: 300_000_000})
	}
	l.end()
	lines := strings.Split(out.String(), "\r"+ansi.EraseLineRight)
	if len(lines) > 500 || lines[len(lines)-1] != "" {
		t.Errorf("%d lines, the last one %q", len(lines), lines[len(lines)-1])
	}
	if want := "300 MB of 300 MB  docker.io/l"; lines[len(lines)-2] != want[:28]+"…" {
		t.Errorf("the last one says %q", lines[len(lines)-2])
	}
}

func TestWithoutATerminalNoLineIsDrawn(t *testing.T) {
	var out strings.Builder
	l := newPullLine(&out, "perl")
	l.show(store.Progress{Done: 1, Total: 2})
	l.end()
	if out.Len() > 0 {
		t.Errorf("drawn: %q", out.String())
	}
}
