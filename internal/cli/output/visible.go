package output

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible escapes characters that control a terminal, as \x1b or \u202e: names, messages and images come from objects that
// other users may have written. Line breaks and tabs stay.
func Visible(text string) string {
	if !strings.ContainsFunc(text, isControl) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case !isControl(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		text = text[n:]
	}
	return b.String()
}

// isControl reports whether r is a control character, changes the direction of text, or is no character.
func isControl(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0xfffe || r == 0xffff)
}

// Words is a writer for Stint's own output, which passes through Visible.
type Words struct{ To io.Writer }

// Write implements io.Writer.
func (w Words) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.To, Visible(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Raw returns the writer behind w if w is Words.
func Raw(w io.Writer) io.Writer {
	if words, ok := w.(Words); ok {
		return words.To
	}
	return w
}
