package output

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible shows what a terminal would act upon instead of printing it, as \x1b or \u202e: names, messages and images come
// from others, and say what they like. Line breaks and tabs stay.
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

// isControl reports whether r is not there to be read: control characters, and those that turn the direction of text.
func isControl(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0xfffe || r == 0xffff)
}

// Words is a writer for what Stint itself says: all of it is made visible.
type Words struct{ To io.Writer }

// Write implements io.Writer.
func (w Words) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.To, Visible(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Raw returns the writer behind w where that is one for words.
func Raw(w io.Writer) io.Writer {
	if words, ok := w.(Words); ok {
		return words.To
	}
	return w
}
