// Package visible shows text that others may have written so that it does not act on the terminal: names, messages, images.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text escapes characters that control a terminal or turn text round, as \x1b or \u202e. Line breaks and tabs stay. JSON stays JSON
// and keeps its values: in JSON such characters occur in strings only, and \u007f is the least of them.
func Text(text string) string {
	if !strings.ContainsFunc(text, acts) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case !acts(r):
			b.WriteRune(r)
		case r < ' ':
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		text = text[n:]
	}
	return b.String()
}

// acts reports whether r is a control character, overrides the direction of text, begins a line in some programs, or is no character.
func acts(r rune) bool {
	switch r {
	case '\n', '\t', '\u061c', '\u200e', '\u200f': // The marks of right-to-left writing override no direction.
		return false
	case '\u2028', '\u2029', '\ufffe', '\uffff':
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}
