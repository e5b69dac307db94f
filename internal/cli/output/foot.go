package output

import (
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// foot draws lines at the foot of a terminal, below everything that scrolls.
//
// What goes above is written as it is, so that the terminal wraps it and keeps it, however long it is. Each line of the
// foot takes one row: it is shorter than the terminal is wide. Where a terminal that became narrower has wrapped some of
// them, rows of the old foot stay above the new one; the text above is never erased.
type foot struct {
	to io.Writer
	// rows are those of the foot that is on the screen.
	rows int
	err  error
}

// draw replaces the foot by these lines, with more text above it.
func (f *foot) draw(above, lines []string) {
	var b strings.Builder
	if f.rows > 1 {
		b.WriteString(ansi.CursorUp(f.rows - 1))
	}
	if f.rows > 0 {
		b.WriteString("\r" + ansi.EraseScreenBelow)
	}
	for _, text := range above {
		b.WriteString(text + "\r\n")
	}
	b.WriteString(strings.Join(lines, "\r\n"))
	f.rows = len(lines)
	if _, err := io.WriteString(f.to, b.String()); err != nil && f.err == nil {
		f.err = err
	}
}
