package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/node/runtime"
)

func id(n int) runtime.ID {
	return runtime.ID{PodUID: types.UID(fmt.Sprintf("pod-%d", n)), Container: "main"}
}

// A journal has every attempt that was added and not forgotten, also if its last line is cut off or it was rewritten.
func TestJournalTellsWhatWasWritten(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(base, "run")
		if err != nil {
			t.Fatal(err)
		}
		run, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		head := header{BootID: "boot", Cgroups: []string{"/a"}}
		j, err := createJournal(run, head, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := map[runtime.ID]runtime.Status{}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			n := rapid.IntRange(0, 9).Draw(t, "attempt")
			s := runtime.Status{ID: id(n), State: runtime.Running}
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				err = j.started(s)
				want[s.ID] = s
			case 1:
				s.State, s.ExitCode = runtime.Exited, int32(n)
				err = j.ended(s)
				want[s.ID] = s
			case 2:
				err = j.forget([]runtime.ID{s.ID})
				delete(want, s.ID)
			case 3:
				err = j.rewrite()
			case 4:
				j.size = compactAt + 1
				err = j.forget([]runtime.ID{s.ID})
				delete(want, s.ID)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if empty := j.close(); empty != (len(want) == 0) {
			t.Fatalf("empty: %t with %d attempts", empty, len(want))
		}
		appendTo(t, filepath.Join(dir, journalName), rapid.SampledFrom([]string{"", "{", `{"exit":{"podUID":"pod-1","cont`}).Draw(t, "torn line"))
		got, err := readJournal(run)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.attempts); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(head, got.header); diff != "" {
			t.Fatal(diff)
		}
	})
}

func appendTo(t *rapid.T, path, text string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func emptyDir(t *testing.T) *os.Root {
	t.Helper()
	run, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Close() })
	return run
}

func TestNoJournalIsAnEmptyHistory(t *testing.T) {
	h, err := readJournal(emptyDir(t))
	if err != nil || len(h.attempts) != 0 {
		t.Errorf("%+v, %v", h, err)
	}
}

// The IDs of a journal become names of files and directories.
func TestAttemptsWithIDsThatLeadElsewhereAreNotTaken(t *testing.T) {
	run := emptyDir(t)
	var lines string
	for _, id := range []string{
		`"podUID":"good","container":"main"`,
		`"podUID":"../../etc","container":"main"`,
		`"podUID":"/etc","container":"main"`,
		`"podUID":"..","container":"main"`,
		`"podUID":"","container":"main"`,
		`"podUID":"pod","container":"../main"`,
		`"podUID":"pod","container":"` + strings.Repeat("x", 256) + `"`,
	} {
		lines += "{\"exit\":{" + id + "}}\n{\"start\":{" + id + "}}\n"
	}
	if err := run.WriteFile(journalName, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := readJournal(run)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := h.attempts[runtime.ID{PodUID: "good", Container: "main"}]; !ok || len(h.attempts) != 1 {
		t.Errorf("taken are %v", h.attempts)
	}
}

func TestALineWithoutEndEndsTheJournal(t *testing.T) {
	run := emptyDir(t)
	text := `{"start":{"podUID":"pod","container":"main"}}` + "\n" + strings.Repeat("x", 2*maxLine)
	if err := run.WriteFile(journalName, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if h, err := readJournal(run); err != nil || len(h.attempts) != 1 {
		t.Errorf("%+v, %v", h, err)
	}
}
