package docs

import (
	"regexp"
	"testing"
)

// The glossary is for looking words up: it has one line for each word, and few words.
func TestTheGlossaryIsShort(t *testing.T) {
	const most = 60
	seen := map[string]bool{}
	for _, line := range regexp.MustCompile(`(?m)^\| ([a-z][^|]*) \| [^|]+ \|$`).FindAllStringSubmatch(read(t, "glossary.md"), -1) {
		if seen[line[1]] && line[1] != "word" {
			t.Errorf("%q stands there twice", line[1])
		}
		seen[line[1]] = true
	}
	if delete(seen, "word"); len(seen) == 0 || len(seen) > most {
		t.Errorf("%d words, want 1 to %d", len(seen), most)
	}
}
