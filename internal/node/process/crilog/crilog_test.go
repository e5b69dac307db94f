package crilog

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/node/runtime"
)

var line = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z (stdout|stderr) ([FP]) (.*)$`)

type entry struct{ Stream, Tag, Text string }

func parse(t interface{ Fatalf(string, ...any) }, data string) []entry {
	var all []entry
	for l := range strings.Lines(data) {
		m := line.FindStringSubmatch(strings.TrimSuffix(l, "\n"))
		if m == nil {
			t.Fatalf("not a line of a CRI log: %q", l)
		}
		all = append(all, entry{m[2], m[3], m[4]})
	}
	return all
}

// copyAll writes chunks to a pipe that a stream reads, and returns the log.
func copyAll(t *testing.T, chunks ...string) []entry {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pod", "0.log")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	log := NewWriter(path, DefaultLimits)
	done := make(chan error, 1)
	go func() { done <- NewStream(log, "stdout").Copy(r) }()
	for _, chunk := range chunks {
		if _, err := w.WriteString(chunk); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if lost := log.Close(); lost != nil {
		t.Fatal(lost)
	}
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(data))
}

func TestStream(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for name, test := range map[string]struct {
		chunks []string
		want   []entry
	}{
		"no output makes no file":                 {nil, nil},
		"whole lines":                             {[]string{"a\nb\n"}, []entry{{"stdout", "F", "a"}, {"stdout", "F", "b"}}},
		"an empty line is a line":                 {[]string{"\n"}, []entry{{"stdout", "F", ""}}},
		"a last line without an end":              {[]string{"a\nb"}, []entry{{"stdout", "F", "a"}, {"stdout", "F", "b"}}},
		"a line of just the size is whole":        {[]string{long + "\n"}, []entry{{"stdout", "F", long}}},
		"a longer one is split":                   {[]string{long + "y\n"}, []entry{{"stdout", "P", long}, {"stdout", "F", "y"}}},
		"a much longer one is split often":        {[]string{long + long + "y"}, []entry{{"stdout", "P", long}, {"stdout", "P", long}, {"stdout", "F", "y"}}},
		"what is no text stays as it is":          {[]string{"\xff\x00\r\n"}, []entry{{"stdout", "F", "\xff\x00\r"}}},
		"spaces at both ends belong to the line ": {[]string{"  a  \n"}, []entry{{"stdout", "F", "  a  "}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, copyAll(t, test.chunks...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The log holds all output in order, whatever the sizes of chunks and lines.
func TestNothingIsLostWhateverTheChunks(t *testing.T) {
	dir := t.TempDir()
	count := 0
	rapid.Check(t, func(t *rapid.T) {
		chunks := rapid.SliceOf(rapid.Custom(func(t *rapid.T) string {
			n := rapid.IntRange(0, 20000).Draw(t, "length")
			every := rapid.IntRange(1, 30000).Draw(t, "line length")
			b := make([]byte, n)
			for i := range b {
				b[i] = byte('a' + i%26)
				if i%every == every-1 {
					b[i] = '\n'
				}
			}
			return string(b)
		})).Draw(t, "chunks")
		count++
		path := filepath.Join(dir, fmt.Sprint(count))
		log := NewWriter(path, DefaultLimits)
		s := NewStream(log, "stderr")
		for _, chunk := range chunks {
			s.take([]byte(chunk), time.Unix(0, 0))
		}
		s.flush()
		if lost := log.Close(); lost != nil {
			t.Fatal(lost)
		}
		data, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, e := range parse(t, string(data)) {
			if len(e.Text) > maxLine {
				t.Fatalf("a line of %d bytes", len(e.Text))
			}
			got.WriteString(e.Text)
			if e.Tag == "F" {
				got.WriteByte('\n')
			}
		}
		want := strings.Join(chunks, "")
		if want != "" && !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		if got.String() != want {
			t.Fatalf("%d bytes came out, not %d", got.Len(), len(want))
		}
	})
}

func appendAll(t *testing.T, w *Writer, records string, now time.Time) {
	t.Helper()
	if _, err := w.append([]byte(records), len(records), now); err != nil {
		t.Fatal(err)
	}
}

func TestRotation(t *testing.T) {
	// The path of a data directory may contain the special characters of patterns.
	dir := filepath.Join(t.TempDir(), "[a-z]*")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "0.log")
	w := NewWriter(path, Limits{MaxBytes: 10, MaxFiles: 3})
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range 5 {
		appendAll(t, w, fmt.Sprintf("%d234567890\n", i), now)
		if err := w.rotate(now.Add(time.Duration(i) * time.Second)); err != nil {
			t.Fatal(err)
		}
		appendAll(t, w, "begin\n", now)
	}
	if lost := w.Close(); lost != nil {
		t.Fatal(lost)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, e := range entries {
		files = append(files, filepath.Join(dir, e.Name()))
	}
	want := []string{path, path + ".20260102-030408.000000000", path + ".20260102-030409.000000000"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Error(diff)
	}
	data, err := os.ReadFile(path + ".20260102-030409.000000000")
	if err != nil || string(data) != "begin\n4234567890\n" {
		t.Errorf("the newest one set aside holds %q (%v)", data, err)
	}
}

func TestALogStaysWithinItsBoundHoweverFastItGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	w := NewWriter(path, Limits{MaxBytes: 1 << 10, MaxFiles: 3})
	for range 2000 {
		appendAll(t, w, strings.Repeat("x", 100), time.Now())
	}
	if lost := w.Close(); lost != nil {
		t.Fatal(lost)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if len(files) != 3 || size > 3*(1<<10+100) || size < 2<<10 {
		t.Errorf("%d bytes in %d files", size, len(files))
	}
}

func TestAFileThatIsSetAsideOverwritesNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.log")
	w := NewWriter(path, Limits{MaxBytes: 1, MaxFiles: 5})
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, text := range []string{"a\n", "b\n", "c\n"} {
		appendAll(t, w, text, now)
		if err := w.rotate(now); err != nil {
			t.Fatal(err)
		}
		w.limits.MaxBytes = 1 << 20 // The next lines do not rotate the file.
	}
	if lost := w.Close(); lost != nil {
		t.Fatal(lost)
	}
	first, err := os.ReadFile(path + ".20260102-030405.000000000")
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(first)+string(second) != "a\nb\nc\n" {
		t.Errorf("kept %q and %q", first, second)
	}
}

func TestAFailureToWriteIsReportedAndDoesNotBlock(t *testing.T) {
	w := NewWriter("/proc/no-such-place/0.log", DefaultLimits)
	NewStream(w, "stdout").take([]byte("lost\n"), time.Unix(7, 0))
	want := runtime.LostOutput{Bytes: 5, Since: time.Unix(7, 0), Reason: "no such file or directory"}
	if lost := w.Close(); lost == nil || *lost != want {
		t.Errorf("lost: %+v", lost)
	}
}

// The logs directory may be removed while a server runs.
func TestADirectoryThatIsMadeAgainIsClosed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	w := NewWriter(filepath.Join(dir, "pod", "0.log"), DefaultLimits)
	appendAll(t, w, "a\n", time.Now())
	if lost := w.Close(); lost != nil {
		t.Fatal(lost)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
