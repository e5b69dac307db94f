package image

import (
	"fmt"
	"io"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/image/progress"
	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/internal/visible"
)

// pullLine shows the progress of a pull in a line of a terminal. The line is drawn again when its text changes, which is
// seldom, as the numbers are rounded.
type pullLine struct {
	to    io.Writer
	width int
	image string
	drawn string
}

// newPullLine returns nil if the output is not a terminal.
func newPullLine(to io.Writer, image string) *pullLine {
	if !output.IsTerminal(to) {
		return nil
	}
	width, _, err := term.GetSize(output.File(to).Fd())
	if err != nil || width < 2 {
		width = 80
	}
	return &pullLine{to: visible.Unchanged(to), width: width, image: image}
}

func (l *pullLine) show(p store.Progress) {
	if l == nil {
		return
	}
	// A line that wraps could not be drawn over.
	text := ansi.Truncate(fmt.Sprintf("%s of %s  %s", progress.Bytes(p.Done), progress.Bytes(p.Total), visible.Text(l.image)), l.width-1, "…")
	if text != l.drawn {
		l.drawn = text
		fmt.Fprint(l.to, "\r"+ansi.EraseLineRight+text)
	}
}

// end removes the line.
func (l *pullLine) end() {
	if l != nil && l.drawn != "" {
		fmt.Fprint(l.to, "\r"+ansi.EraseLineRight)
	}
}
