package crilog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// On a busy machine the reader may run only after the deadline.
func TestWhatIsInThePipeAtTheDeadlineIsKept(t *testing.T) {
	line := strings.Repeat("x", 9_999)
	for name, test := range map[string]struct {
		printed string
		want    []entry
	}{
		"nothing":                     {"", nil},
		"a line and some of the next": {"a\nb", []entry{{"stdout", "F", "a"}, {"stdout", "F", "b"}}},
		"more than is read at a time": {strings.Repeat(line+"\n", 5), slices.Repeat([]entry{{"stdout", "F", line}}, 5)},
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			defer w.Close() // another process holds the pipe open
			if _, err := w.WriteString(test.printed); err != nil {
				t.Fatal(err)
			}
			if err := r.SetReadDeadline(time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "0.log")
			log := NewWriter(path, DefaultLimits)
			if err := NewStream(log, "stdout").Copy(r); err != nil {
				t.Error(err)
			}
			if lost := log.Close(); lost != nil {
				t.Error(lost)
			}
			data, err := os.ReadFile(path)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, parse(t, string(data))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
