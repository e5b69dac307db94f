package output

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// statusLines draws lines at the bottom of a terminal, below the text that scrolls.
//
// Between two drawings the cursor is at the beginning of the status lines. Terminals keep the cursor at its text when they are
// resized, whether they wrap lines again or not: so the next drawing overwrites the status lines and nothing else. Text above
// them is written unchanged, so that the terminal wraps it and keeps it, however long it is.
type statusLines struct {
	to    io.Writer
	drawn []string
	// begun: the cursor is hidden.
	begun bool
	err   error
}

// draw replaces the status lines, and writes more text above them. Each line takes one row. If nothing has changed, nothing
// is written, unless anew is set.
func (f *statusLines) draw(above, lines []string, anew bool) {
	if len(above) == 0 && !anew && slices.Equal(lines, f.drawn) {
		return
	}
	var b strings.Builder
	if !f.begun {
		b.WriteString(ansi.ResetModeTextCursorEnable)
	}
	b.WriteString(ansi.SetModeSynchronizedOutput + "\r" + ansi.EraseScreenBelow)
	for _, text := range above {
		b.WriteString(text + "\r\n")
	}
	b.WriteString(strings.Join(lines, "\r\n") + "\r")
	if n := len(lines) - 1; n > 0 {
		b.WriteString(ansi.CursorUp(n))
	}
	b.WriteString(ansi.ResetModeSynchronizedOutput)
	f.drawn, f.begun = lines, true
	f.write(b.String())
}

// end writes the last text and removes the status lines.
func (f *statusLines) end(above []string) {
	f.draw(above, nil, false)
	if f.begun {
		f.write(ansi.SetModeTextCursorEnable)
	}
}

func (f *statusLines) write(text string) {
	if _, err := io.WriteString(f.to, text); err != nil && f.err == nil {
		f.err = err
	}
}
