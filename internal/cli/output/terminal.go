package output

import (
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// OnScreen keeps the text and colours of a line that a pod wrote. It removes sequences that move the cursor, clear the screen
// or change the terminal, as they would break the display. Of text that a pod overwrites with \r only the last state is kept.
func OnScreen(line string) string {
	line = strings.ToValidUTF8(strings.TrimRight(line, "\r"), "\uFFFD")
	line = line[strings.LastIndexByte(line, '\r')+1:]
	var b strings.Builder
	var state byte
	coloured := false
	for len(line) > 0 {
		sequence, width, n, next := ansi.DecodeSequence(line, state, nil)
		switch {
		case sequence == "\t":
			b.WriteString("    ")
		case width > 0 || isMark(sequence):
			b.WriteString(sequence)
		case isColour(sequence):
			b.WriteString(sequence)
			coloured = true
		}
		line, state = line[n:], next
	}
	if coloured {
		b.WriteString(ansi.ResetStyle)
	}
	return b.String()
}

// isMark reports whether a sequence is a combining mark, such as an accent, which has no width.
func isMark(sequence string) bool {
	r, _ := utf8.DecodeRuneInString(sequence)
	return unicode.IsMark(r)
}

func isColour(sequence string) bool {
	parameters, isCSI := strings.CutPrefix(sequence, "\x1b[")
	parameters, endsInM := strings.CutSuffix(parameters, "m")
	return isCSI && endsInM && strings.Trim(parameters, "0123456789;:") == ""
}

// IsTerminal reports whether w ends at a terminal that can show a moving display.
func IsTerminal(w io.Writer) bool { return EndsAtTerminal(w) && os.Getenv("TERM") != "dumb" }

// EndsAtTerminal reports whether w ends at a terminal.
func EndsAtTerminal(w io.Writer) bool {
	f := File(w)
	return f != nil && term.IsTerminal(f.Fd())
}

// File returns the file at which w ends, behind the writers of the command line; nil if it is none.
func File(w io.Writer) *os.File {
	for {
		switch to := w.(type) {
		case *os.File:
			return to
		case interface{ Unwrap() io.Writer }:
			w = to.Unwrap()
		default:
			return nil
		}
	}
}
