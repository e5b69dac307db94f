package crilog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/smalldisk"
)

// wholeLines joins the records of one stream as a reader does.
func wholeLines(records []entry, stream string) (lines []string) {
	var line strings.Builder
	for _, r := range records {
		if r.Stream != stream {
			continue
		}
		line.WriteString(r.Text)
		if r.Tag == "F" {
			lines = append(lines, line.String())
			line.Reset()
		}
	}
	if line.Len() > 0 {
		lines = append(lines, line.String())
	}
	return lines
}

// printed is what a test has printed to one stream. Each line begins with a number of its own.
type printed struct {
	*Stream
	text strings.Builder
	next int
}

// print prints a line of this length, in parts between which it calls between.
func (p *printed) print(length, parts int, at time.Time, between func()) {
	line := fmt.Sprintf("line %d ", p.next)
	line += strings.Repeat("x", max(0, length-len(line))) + "\n"
	p.next++
	p.text.WriteString(line)
	for ; parts > 1; parts-- {
		n := len(line) / parts
		p.take([]byte(line[:n]), at)
		line = line[n:]
		between()
	}
	p.take([]byte(line), at)
}

type fatal interface {
	Helper()
	Fatalf(format string, arguments ...any)
}

// missing returns how many bytes of the output are not in the log. It fails the test unless each line of the log was printed, in
// this order, in full or up to the end of a record.
func (p *printed) missing(t fatal, records []entry) int64 {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(p.text.String(), "\n"), "\n")
	missing := p.text.Len()
	for _, got := range wholeLines(records, p.name) {
		for len(lines) > 0 && !strings.HasPrefix(lines[0], got) {
			lines = lines[1:]
		}
		switch {
		case len(lines) == 0:
			t.Fatalf("%s: the log has a line that was not printed then: %.60q of %d bytes", p.name, got, len(got))
		case got == lines[0]:
			missing--
		case len(got) == 0 || len(got)%maxLine != 0:
			t.Fatalf("%s: a line was cut within a record: %.60q, at %d bytes", p.name, got, len(got))
		}
		missing -= len(got)
		lines = lines[1:]
	}
	return int64(missing)
}

// fillBut writes a file until only this much is free.
func fillBut(t fatal, path string, free int) {
	t.Helper()
	var s unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &s); err != nil {
		t.Fatalf("%v", err)
	}
	left := int(s.Bavail)*int(s.Bsize) - free
	if err := os.WriteFile(path, make([]byte, max(left, 0)), 0o600); err != nil {
		t.Fatalf("%v", err)
	}
}

func TestAFullDiskCostsOnlyWhatCannotBeWritten(t *testing.T) {
	smalldisk.Run(t, 2, func(disk string) {
		runs, losses := 0, 0
		rapid.Check(t, func(t *rapid.T) {
			runs++
			dir, other := filepath.Join(disk, fmt.Sprint(runs)), filepath.Join(disk, "other")
			path := filepath.Join(dir, "0.log")
			var told []runtime.LostOutput
			log := NewWriter(path, Limits{MaxBytes: 64 << 10, MaxFiles: 100}).OnLoss(func(l runtime.LostOutput) { told = append(told, l) })
			streams := []*printed{{Stream: NewStream(log, "stdout")}, {Stream: NewStream(log, "stderr")}}
			change := func() {
				switch rapid.IntRange(0, 3).Draw(t, "disk") {
				case 0:
					fillBut(t, other, rapid.SampledFrom([]int{0, 4096, 40960}).Draw(t, "free"))
				case 1:
					_ = os.Remove(other)
				}
			}
			at := time.Unix(0, 0)
			for range rapid.IntRange(1, 12).Draw(t, "lines") {
				at = at.Add(time.Second)
				length := rapid.SampledFrom([]int{0, 100, 5000, maxLine, maxLine + 1, 3*maxLine + 5}).Draw(t, "length")
				streams[rapid.IntRange(0, 1).Draw(t, "stream")].print(length, rapid.IntRange(1, 4).Draw(t, "parts"), at, change)
			}
			_ = os.Remove(other)
			for _, s := range streams {
				s.print(10, 1, at.Add(time.Second), nil)
			}
			lost := log.Close()
			records := parse(t, readAll(t, path))
			var missing int64
			for _, s := range streams {
				missing += s.missing(t, records)
				if all := wholeLines(records, s.name); len(all) == 0 || !strings.HasPrefix(all[len(all)-1], fmt.Sprintf("line %d ", s.next-1)) {
					t.Fatalf("%s: the line that was printed when there was room again is not the last one of %d", s.name, len(all))
				}
			}
			switch {
			case missing == 0 && lost == nil && told == nil:
			case lost == nil || lost.Bytes != missing:
				t.Fatalf("%d bytes are missing, and %+v is said to be", missing, lost)
			case lost.Reason != "no space left on device" || len(told) != 1 || told[0].Since != lost.Since || lost.Since.After(at):
				t.Fatalf("lost: %+v; told: %+v", lost, told)
			default:
				losses++
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		})
		if losses == 0 {
			t.Error("the disk was never full")
		}
	})
}

func TestALogThatEndsOnAFullDiskHasNoTornLine(t *testing.T) {
	smalldisk.Run(t, 1, func(disk string) {
		path := filepath.Join(disk, "pod", "0.log")
		log := NewWriter(path, DefaultLimits)
		s := &printed{Stream: NewStream(log, "stdout")}
		s.print(100, 1, time.Unix(0, 0), nil)
		fillBut(t, filepath.Join(disk, "other"), 0)
		s.print(5000, 1, time.Unix(1, 0), nil)
		lost := log.Close()
		if missing := s.missing(t, parse(t, readAll(t, path))); lost == nil || lost.Bytes != missing || missing != 5001 {
			t.Errorf("%d bytes are missing, and %+v is said to be", missing, lost)
		}
	})
}

// readAll returns the log with what was rotated.
func readAll(t fatal, path string) string {
	t.Helper()
	files, err := Rotated(path)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var all strings.Builder
	for _, file := range append(files, path) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v", err)
		}
		all.Write(data)
	}
	return all.String()
}

// A file that cannot be set aside, or is the last one that there is room for, goes on to be written to.
func TestARotationThatFailsLosesNothing(t *testing.T) {
	smalldisk.Run(t, 1, func(disk string) {
		path := filepath.Join(disk, "pod", "0.log")
		log := NewWriter(path, Limits{MaxBytes: 100, MaxFiles: 100})
		s := &printed{Stream: NewStream(log, "stdout")}
		at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		s.print(200, 1, at, nil)
		if err := unix.Mount("", disk, "", unix.MS_REMOUNT, "size=1m,nr_inodes=20"); err != nil {
			t.Skipf("cannot bound the number of files: %v", err)
		}
		takeInodes(t, disk)
		for range 5 {
			s.print(200, 1, at.Add(time.Second), nil)
		}
		if lost := log.Close(); lost != nil {
			t.Errorf("lost: %+v", lost)
		}
		if missing := s.missing(t, parse(t, readAll(t, path))); missing != 0 {
			t.Errorf("%d bytes are missing", missing)
		}
	})
}

// takeInodes makes files until there can be no more. Files that are empty take no room.
func takeInodes(t *testing.T, disk string) {
	t.Helper()
	for n := 0; ; n++ {
		f, err := os.Create(filepath.Join(disk, fmt.Sprint("file-", n)))
		if err != nil {
			return
		}
		f.Close()
	}
}

// The user may remove logs while a container runs.
func TestALogThatIsRemovedIsMadeAgain(t *testing.T) {
	for name, more := range map[string]string{"while lines come": "after\n", "before the end": ""} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pod", "0.log")
			log := NewWriter(path, DefaultLimits)
			s := NewStream(log, "stdout")
			at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			s.take([]byte("before\n"), at)
			for _, gone := range []string{path, filepath.Dir(path)} {
				if err := os.Remove(gone); err != nil {
					t.Fatal(err)
				}
			}
			if more != "" {
				s.take([]byte(more), at.Add(checkEvery))
				if got := readAll(t, path); !strings.HasSuffix(got, " stdout F after\n") || strings.Contains(got, "before") {
					t.Errorf("the new log has %q", got)
				}
			}
			want := runtime.LostOutput{Bytes: int64(len("before\n")), Since: at, Reason: "its log was removed"}
			if lost := log.Close(); lost == nil || *lost != want {
				t.Errorf("lost: %+v, want %+v", lost, want)
			}
		})
	}
}
