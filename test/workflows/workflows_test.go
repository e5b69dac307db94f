// Package workflows tests the workflows of GitHub.
package workflows

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// pinned is an action of another repository at a commit. A tag could be moved to another commit.
var pinned = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40}$`)

func TestActionsOfOthersArePinnedByCommit(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.y*ml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range unpinned(t, string(text)) {
			t.Errorf("%s: %s", filepath.Base(file), problem)
		}
	}
}

func TestWhatIsNotPinnedIsFound(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for uses, problems := range map[string]int{
		"a/b@" + commit + " # v1.2.3":   0,
		"a/b/c@" + commit + " # v1":     0,
		"./.github/workflows/ci.yaml":   0,
		"a/b@v1":                        1,
		"a/b@main # v1":                 1,
		"a/b@" + commit:                 1,
		"a/b@" + commit[1:] + " # v1":   1,
		"docker://a/b:1":                1,
		"docker://a/b@" + commit:        1,
		"'a/b@" + commit + "' # v1.2.3": 1,
	} {
		if got := unpinned(t, "jobs: {a: {steps: [{run: x}, {\n uses: "+uses+"\n}]}}"); len(got) != problems {
			t.Errorf("%s: %q", uses, got)
		}
	}
}

// unpinned returns what is wrong with the uses of a workflow.
func unpinned(t *testing.T, workflow string) []string {
	t.Helper()
	var tree any
	if err := yaml.Unmarshal([]byte(workflow), &tree); err != nil {
		t.Fatal(err)
	}
	var problems []string
	for _, uses := range usesIn(tree) {
		switch {
		case strings.HasPrefix(uses, "./"):
		case !pinned.MatchString(uses):
			problems = append(problems, uses+" is not pinned by the commit")
		case !strings.Contains(workflow, "uses: "+uses+" # v"):
			problems = append(problems, uses+" is without a comment that states the version")
		}
	}
	return problems
}

// usesIn returns all values of uses below a node.
func usesIn(node any) []string {
	var found []string
	switch n := node.(type) {
	case map[string]any:
		for key, value := range n {
			if text, is := value.(string); is && key == "uses" {
				found = append(found, text)
			}
			found = append(found, usesIn(value)...)
		}
	case []any:
		for _, value := range n {
			found = append(found, usesIn(value)...)
		}
	}
	return found
}
