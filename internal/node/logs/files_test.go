package logs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWhatIsWrittenUntilAFileIsSetAsideIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	add := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString(text)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	add("a\n")
	c := &cursor{path: path}
	defer c.close()
	for _, want := range []string{"a", ""} {
		if line, err := c.line(); string(line) != want || want == "" && !errors.Is(err, io.EOF) {
			t.Fatalf("%q, %v instead of %q", line, err, want)
		}
	}
	// The reader has come to the end once more, and the writer goes on before the reader looks for the next file.
	add("b\n")
	if err := os.Rename(path, path+".20260102-150405.000000001"); err != nil {
		t.Fatal(err)
	}
	add("c\n")
	if err := c.finishFile(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"b", "c"} {
		if line, err := c.line(); err != nil || string(line) != want {
			t.Errorf("%q, %v instead of %q", line, err, want)
		}
	}
}

// On a full disk a writer removes what it could write of a line, and writes others when there is room again.
func TestATornLineThatIsRemovedAgainIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	// change cuts the file to a size and adds a text.
	change := func(size int64, text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			err = f.Truncate(size)
		}
		if err == nil {
			_, err = f.WriteString(text)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	c := &cursor{path: path}
	defer c.close()
	for _, step := range []struct {
		size       int64
		text, want string
	}{{0, "a\nto", "a"}, {4, "", ""}, {2, "b\nc\n", "b"}, {6, "", "c"}, {6, "", ""}} {
		change(step.size, step.text)
		if line, err := c.line(); string(line) != step.want || step.want == "" && !errors.Is(err, io.EOF) {
			t.Fatalf("%q, %v instead of %q", line, err, step.want)
		}
	}
}
