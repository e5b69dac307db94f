package visible

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"plain, ünïcode ✓ 日本":          "plain, ünïcode ✓ 日本",
		"families 👩‍👩‍👧, e\u0301, ％":   "families 👩‍👩‍👧, e\u0301, ％",
		"two\nlines\tand a tab":        "two\nlines\tand a tab",
		"\x1b[31mred\x1b]0;title\a":    `\x1b[31mred\x1b]0;title\x07`,
		"del\x7f back\b return\r":      `del\u007f back\x08 return\x0d`,
		"eight bits\u009b31m\u0085":    `eight bits\u009b31m\u0085`,
		"not text\x9b\xff":             `not text\x9b\xff`,
		"half a letter \xe6\x97":       `half a letter \xe6\x97`,
		"turned \u202e round \u2069":   `turned \u202e round \u2069`,
		"marks \u200e\u200f\u061c":     "marks \u200e\u200f\u061c",
		"other lines\u2028 and\u2029 ": `other lines\u2028 and\u2029 `,
		"no character \uffff":          `no character \uffff`,
		"a replacement \ufffd":         "a replacement \ufffd",
		"":                             "",
	} {
		if got := Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestShownJSONHasTheSameValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.String().Draw(t, "value") + rapid.SampledFrom([]string{"", "\x7f", "\u009b", "\u202e", "\ufffe", "\a"}).Draw(t, "more")
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := json.Unmarshal([]byte(Text(string(encoded))), &got); err != nil || got != value {
			t.Fatalf("%q became %q: %v", value, got, err)
		}
	})
}

// raw reports whether text has what a terminal acts on. It has rules of its own: those of Text may be wrong.
func raw(text string) bool {
	return !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	})
}
