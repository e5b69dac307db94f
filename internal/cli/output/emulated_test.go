package output

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// emulated is a terminal emulator with the lines that have scrolled off it.
type emulated struct{ *vt.Emulator }

func newEmulated(width, height int) emulated {
	e := emulated{vt.NewEmulator(width, height)}
	e.SetScrollbackSize(100_000)
	return e
}

// rows are all lines that the terminal shows or has scrolled off, without the empty ones at the end.
func (e emulated) rows() []string {
	var rows []string
	read := func(height int, cell func(x, y int) string) {
		for y := range height {
			var b strings.Builder
			for x := range e.Width() {
				b.WriteString(cell(x, y))
			}
			rows = append(rows, strings.TrimRight(b.String(), " "))
		}
	}
	read(e.ScrollbackLen(), func(x, y int) string {
		if c := e.ScrollbackCellAt(x, y); c != nil {
			return c.Content
		}
		return " "
	})
	read(e.Height(), func(x, y int) string {
		if c := e.CellAt(x, y); c != nil {
			return c.Content
		}
		return " "
	})
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// play draws many frames, with lines of any length above, and returns the lines that must be above the status lines.
func play(random *rand.Rand, f *statusLines, s *screen, jobs int, size func() (width, height int)) (above []string) {
	for frame := range 200 {
		var news []string
		for range random.IntN(4) {
			text := fmt.Sprintf("line %d of frame %d %s.", len(news), frame, strings.Repeat("x", random.IntN(300)))
			news = append(news, text)
		}
		for range random.IntN(5) {
			i := random.IntN(jobs)
			s.update(Progress{Job: Job{"default", fmt.Sprintf("job-%03d", i)}, Order: i, Wanted: 10, Active: 1, Succeeded: int32(frame / 20)})
		}
		width, height := size()
		f.draw(news, s.lines(width, height), false)
		above = append(above, news...)
	}
	return above
}

// wrapped are the rows that lines take.
func wrapped(lines []string, width int) (rows []string) {
	for _, line := range lines {
		for len(line) > width {
			rows, line = append(rows, line[:width]), line[width:]
		}
		rows = append(rows, line)
	}
	return rows
}

func TestBarsAndLinesStayApartOnATerminal(t *testing.T) {
	for _, jobs := range []int{3, 30, 60} {
		for _, size := range [][2]int{{80, 24}, {100, 24}, {40, 5}, {80, 2}} {
			t.Run(fmt.Sprintf("%d jobs on %d×%d", jobs, size[0], size[1]), func(t *testing.T) {
				terminal := newEmulated(size[0], size[1])
				f, s := statusLines{to: terminal}, screen{}
				above := play(rand.New(rand.NewPCG(1, 2)), &f, &s, jobs, func() (int, int) { return size[0], size[1] })
				foot := s.lines(size[0], size[1])
				want := append(wrapped(above, size[0]), foot...)
				if got := terminal.rows(); !slices.Equal(got, want) {
					t.Errorf("the terminal shows %d rows, want %d; they end in\n%s\nwant\n%s", len(got), len(want), tail(got), tail(want))
				}
				if len(foot) >= size[1] {
					t.Errorf("the foot has %d rows", len(foot))
				}
				f.end(nil)
				if got, want := terminal.rows(), wrapped(above, size[0]); !slices.Equal(got, want) {
					t.Errorf("at the end the terminal shows\n%s\nwant\n%s", tail(got), tail(want))
				}
			})
		}
	}
}

// crop resizes like a terminal that does not wrap lines again.
func (e *emulated) crop(width, height int) { e.Resize(width, height) }

// reflow resizes like a terminal that wraps lines again: the cursor stays at its text, and visible. Text below it that no
// longer fits is lost.
func (e *emulated) reflow(width, height int) {
	rows, top := e.rows(), e.CursorPosition().Y+e.ScrollbackLen()
	*e = newEmulated(width, height)
	for _, row := range rows[:min(top, len(rows))] {
		_, _ = e.WriteString(row + "\r\n")
	}
	foot := strings.Split(ansi.Hardwrap(strings.Join(rows[min(top, len(rows)):], "\n"), width, true), "\n")
	foot = foot[:min(len(foot), height)]
	_, _ = e.WriteString(strings.Join(foot, "\r\n") + "\r")
	if n := len(foot) - 1; n > 0 {
		_, _ = e.WriteString(ansi.CursorUp(n))
	}
}

// When the terminal changes its size, no line above the status lines is lost, and no part of the old status lines is left.
func TestBarsAndLinesStayApartWhenTheTerminalChangesItsSize(t *testing.T) {
	for name, resize := range map[string]func(e *emulated, width, height int){
		"where lines are wrapped anew": (*emulated).reflow,
		"where lines are cut off":      (*emulated).crop,
	} {
		t.Run(name, func(t *testing.T) {
			terminal := newEmulated(100, 24)
			f, s := statusLines{to: &terminal}, screen{}
			var above []string
			for frame, size := range [][2]int{{100, 24}, {100, 12}, {100, 40}, {120, 40}, {60, 30}, {60, 8}, {100, 24}} {
				resize(&terminal, size[0], size[1])
				for i := range 30 {
					s.update(Progress{Job: Job{"default", fmt.Sprintf("job-%03d", i)}, Order: i, Wanted: 10, Active: 1, Succeeded: int32(frame)})
					news := []string{fmt.Sprintf("line %d of frame %d", i, frame)}
					above = append(above, news...)
					f.draw(news, s.lines(size[0], size[1]), i == 0)
				}
				want := append(slices.Clone(above), s.lines(size[0], size[1])...)
				if got := terminal.rows(); !slices.Equal(got, want) {
					t.Fatalf("at %v the terminal shows %d rows, want %d; they end in\n%s\nwant\n%s", size, len(got), len(want), tail(got), tail(want))
				}
			}
		})
	}
}

func TestAFootThatDoesNotChangeIsNotDrawn(t *testing.T) {
	var terminal strings.Builder
	f := statusLines{to: &terminal}
	f.draw(nil, []string{"a", "b"}, false)
	before := terminal.Len()
	f.draw(nil, []string{"a", "b"}, false)
	if terminal.Len() != before {
		t.Errorf("written again: %q", terminal.String()[before:])
	}
	f.end(nil)
	if got := terminal.String(); strings.Count(got, ansi.ResetModeTextCursorEnable) != 1 || !strings.HasSuffix(got, ansi.SetModeTextCursorEnable) {
		t.Errorf("the cursor is not hidden, or not shown again: %q", got)
	}
}

func tail(rows []string) string { return strings.Join(rows[max(0, len(rows)-40):], "\n") }
