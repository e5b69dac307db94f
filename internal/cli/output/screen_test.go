package output

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/stint-dev/stint/internal/image/progress"
)

func TestScreen(t *testing.T) {
	var s screen
	for _, i := range []int{4, 0, 2, 3, 1} { // they start in any order
		s.update(Progress{Job: Job{"default", "job-" + string(rune('a'+i))}, Order: i, Active: 1, Succeeded: int32(i), Wanted: 4,
			Rate: 2.5, Left: 90 * time.Second})
	}
	s.finish(Job{"default", "job-a"})
	for _, tc := range []struct {
		height int
		want   []string
	}{
		{24, []string{"job-b", "job-c", "job-d", "job-e", "1 of 5 jobs ended"}},
		{6, []string{"job-b", "job-c", "job-d", "job-e", "1 of 5 jobs ended"}},
		{5, []string{"job-b", "job-c", "and 2 more jobs: 7 succeeded, 2 active", "1 of 5 jobs ended"}},
		{3, []string{"4 jobs: 10 succeeded, 4 active", "1 of 5 jobs ended"}},
		{2, []string{"4 jobs: 10 succeeded, 4 active"}},
		{1, nil},
	} {
		t.Run(fmt.Sprint(tc.height), func(t *testing.T) {
			lines := s.lines(120, tc.height)
			if len(lines) != len(tc.want) {
				t.Fatalf("got %d lines, want %d:\n%s", len(lines), len(tc.want), strings.Join(lines, "\n"))
			}
			for i, want := range tc.want {
				if !strings.HasPrefix(lines[i], want) {
					t.Errorf("line %d: got %q, want %q first", i, lines[i], want)
				}
			}
		})
	}
	if first := s.lines(120, 24)[0]; !strings.Contains(first, "1 of 4 succeeded, 1 active, 2.5/s, 1m30s left") {
		t.Errorf("counts: %q", first)
	}
	for _, line := range s.lines(40, 24) {
		if ansi.StringWidth(line) >= 40 {
			t.Errorf("%q is as wide as the terminal", line)
		}
	}
}

func TestALineShowsTheLastFailureAndTheNextTry(t *testing.T) {
	now := time.Unix(1000, 0)
	p := Progress{Job: Job{"default", "typo"}, At: now, Wanted: 1, Failed: 2, Retries: 6, RetryAt: now.Add(18 * time.Second),
		Failure: `exit code 128 (StartError): cannot run "ehco"`}
	want := `0 of 1 succeeded, 0 active, 2 failed, 2 of 6 retries, next try in 18s; last failure: exit code 128 (StartError): cannot run "ehco"`
	if got := line(p); !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want it to end in %q", got, want)
	}
	p.Failed, p.Active, p.RetryAt = 7, 1, time.Time{}
	if got := line(p); !strings.Contains(got, "1 active, 7 failed; last failure") {
		t.Errorf("got %q", got)
	}
}

func TestPullsAreShownAboveTheJobsThatWaitForThem(t *testing.T) {
	var s screen
	s.update(Progress{Job: Job{Name: "a"}, Active: 1, Wanted: 1})
	for i := range 4 {
		s.pulls.update(Pull{Pull: progress.Pull{Image: fmt.Sprint("image-", i), Done: 34_000_000, Total: 120_000_000}})
	}
	s.pulls.update(Pull{Pull: progress.Pull{Image: "image-0"}, Ended: true})
	s.pulls.update(Pull{Pull: progress.Pull{Image: "never-told-of"}, Ended: true})
	for height, want := range map[int][]string{
		24: {"pulling image image-1: 34 MB of 120 MB (28%)", "pulling image image-2: 34 MB of 120 MB (28%)",
			"pulling image image-3: 34 MB of 120 MB (28%)", "a ░░░░░░░░░░░░░░░░░░░░░░░░ 0 of 1 succeeded, 1 active"},
		5: {"pulling image image-1: 34 MB of 120 MB (28%)", "pulling 2 images: 68 MB of 240 MB (28%)",
			"a ░░░░░░░░░░░░░░░░░░░░░░░░ 0 of 1 succeeded, 1 active"},
		2: {"a ░░░░░░░░░░░░░░░░░░░░░░░░ 0 of 1 succeeded, 1 active"},
	} {
		if diff := cmp.Diff(want, s.lines(80, height)); diff != "" {
			t.Errorf("%d rows: %s", height, diff)
		}
	}
}
