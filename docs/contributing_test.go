package docs

import (
	"os"
	"regexp"
	"testing"
)

func TestThePathsForContributorsExist(t *testing.T) {
	paths := regexp.MustCompile("`((?:api|cmd|deploy|docs|examples|hack|internal|test|tools)(?:/[A-Za-z0-9_.-]+)*)`")
	found := paths.FindAllStringSubmatch(read(t, "../CONTRIBUTING.md"), -1)
	if len(found) == 0 {
		t.Fatal("CONTRIBUTING.md names no paths")
	}
	for _, path := range found {
		if _, err := os.Stat("../" + path[1]); err != nil {
			t.Errorf("CONTRIBUTING.md: %v", err)
		}
	}
}
