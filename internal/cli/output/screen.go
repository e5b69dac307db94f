package output

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/stint-dev/stint/internal/visible"
)

const (
	barWidth  = 24
	nameWidth = 32
)

// screen has what a Live display shows: the pulls that Jobs wait for, and the unfinished Jobs, in the manifest's order.
type screen struct {
	jobs  []Progress
	pulls pulls
	ended int
}

func (s *screen) update(p Progress) {
	at, known := slices.BinarySearchFunc(s.jobs, p, compareProgress)
	if known {
		s.jobs[at] = p
		return
	}
	s.jobs = slices.Insert(s.jobs, at, p)
}

func compareProgress(a, b Progress) int {
	return cmp.Or(cmp.Compare(a.Order, b.Order), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

func (s *screen) finish(job Job) {
	s.ended++
	s.jobs = slices.DeleteFunc(s.jobs, func(p Progress) bool { return p.Job == job })
}

// lines returns the status lines, fewer than the terminal's rows and shorter than its width, so that one row is left for text.
func (s *screen) lines(width, height int) []string {
	if len(s.jobs) == 0 {
		return nil
	}
	lines := s.pulls.lines(max(0, height-1) / 2)
	room := max(0, height-1-len(lines))
	shown, rest := s.jobs, []Progress(nil)
	if s.ended > 0 {
		room--
	}
	if len(shown) > room {
		at := max(0, room-1)
		shown, rest = shown[:at], shown[at:]
	}
	for _, p := range shown {
		lines = append(lines, line(p))
	}
	if len(rest) > 0 {
		lines = append(lines, sumOf(rest, len(shown) > 0))
	}
	if s.ended > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d jobs ended", s.ended, s.ended+len(s.jobs)))
	}
	lines = lines[:min(len(lines), max(0, height-1))]
	for i := range lines {
		lines[i] = ansi.Truncate(visible.Text(lines[i]), width-1, "…")
	}
	return lines
}

// sumOf returns the line that sums up Jobs without a line of their own.
func sumOf(jobs []Progress, more bool) string {
	var succeeded, active, failed int32
	for _, p := range jobs {
		succeeded, active, failed = succeeded+p.Succeeded, active+p.Active, failed+p.Failed
	}
	text := fmt.Sprintf("%d jobs: %d succeeded, %d active", len(jobs), succeeded, active)
	if more {
		text = fmt.Sprintf("and %d more jobs: %d succeeded, %d active", len(jobs), succeeded, active)
	}
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text
}

func line(p Progress) string {
	name := ansi.Truncate(label(p.Job), nameWidth, "…")
	parts := []string{name}
	if p.Wanted > 0 {
		parts = append(parts, bar(p.Succeeded, p.Wanted))
	}
	text := counts(p)
	for _, more := range []string{retry(p), pace(p)} {
		if more != "" {
			text += ", " + more
		}
	}
	if p.Failure != "" {
		text += "; last failure: " + p.Failure
	}
	return strings.Join(append(parts, text), " ")
}

func bar(done, all int32) string {
	filled := int(min(1, float64(done)/float64(all)) * barWidth)
	return strings.Repeat("█", filled) + strings.Repeat("░", barWidth-filled)
}
