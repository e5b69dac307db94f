package docs

import (
	"regexp"
	"strings"
	"testing"
)

// A script of internal/cli runs the tutorial. A command that the script lacks would not be tested.
func TestTheTutorialIsTested(t *testing.T) {
	script := read(t, "../internal/cli/testdata/script/tutorial.txt")
	commands := regexp.MustCompile(`(?m)^\$ (stint .*|sed .*)$`).FindAllStringSubmatch(read(t, "tutorial.md"), -1)
	if len(commands) == 0 {
		t.Fatal("the tutorial has no commands")
	}
	for _, command := range commands {
		if !strings.Contains(script, " "+command[1]) {
			t.Errorf("the script does not run: %s", command[1])
		}
	}
}
