package node

import (
	"strings"
	"unicode/utf8"
)

// storable replaces in a termination message what YAML cannot hold: kubectl get -o yaml would fail for the whole pod.
func storable(message string) string {
	return strings.Map(func(r rune) rune {
		if r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xfffe || r == 0xffff {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(message, string(utf8.RuneError)))
}
