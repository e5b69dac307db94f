package results

import (
	"strings"
	"unicode/utf8"
)

// gap marks where text was cut out.
const gap = "…"

// cut shortens s to n bytes at most. It keeps the beginning and the end, as either may be what matters: an error begins
// with what failed, and a log ends with it. Invalid UTF-8 is replaced, as it cannot be stored.
func cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "�")
	if len(s) <= n {
		return s
	}
	if n < len(gap) {
		return ""
	}
	n -= len(gap)
	return head(s, n-n/2) + gap + tail(s, n/2)
}

// head returns the longest beginning of s with n bytes at most that ends between two characters.
func head(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// tail returns the longest end of s with n bytes at most that begins between two characters.
func tail(s string, n int) string {
	at := len(s) - n
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return s[at:]
}
