package output

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain, ünïcode ✓ 日本":       "plain, ünïcode ✓ 日本",
		"two\nlines\tand a tab":     "two\nlines\tand a tab",
		"\x1b[31mred\x1b]0;title\a": `\x1b[31mred\x1b]0;title\x07`,
		"del\x7f back\b return\r":   `del\x7f back\x08 return\x0d`,
		"eight bits\u009b31m":       `eight bits\u009b31m`,
		"not text\x9b\xff":          `not text\x9b\xff`,
		"turned \u202e round":       `turned \u202e round`,
		"no character \uffff":       `no character \uffff`,
		"":                          "",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestNothingVisibleActsOnATerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		var b bytes.Buffer
		if n, err := (Words{&b}).Write([]byte(text)); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
		if got := b.String(); strings.ContainsFunc(got, isControl) || !utf8.ValidString(got) {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
