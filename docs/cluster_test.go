package docs

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

func TestRightsAreThoseOfTheTable(t *testing.T) {
	if d := cmp.Diff(granted(t), told(t)); d != "" {
		t.Errorf("deploy/stint.yaml (-) and docs/cluster.md (+):\n%s", d)
	}
}

// granted lists what the controller may do, as RESOURCE: VERB.
func granted(t *testing.T) []string {
	t.Helper()
	rights := map[string]bool{}
	for document := range strings.SplitSeq(read(t, "../deploy/stint.yaml"), "\n---\n") {
		role := rbacv1.ClusterRole{}
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		if role.Name != "stint-controller" {
			continue
		}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				add(rights, resource, rule.Verbs)
			}
		}
	}
	return slices.Sorted(maps.Keys(rights))
}

// told lists the rights in the first column of the table.
func told(t *testing.T) []string {
	t.Helper()
	_, section, _ := strings.Cut(read(t, "cluster.md"), "\n## Rights\n")
	rights := map[string]bool{}
	entry := regexp.MustCompile(`([A-Za-z' ]+)(?: in .*|, .* only)?: ([a-z, ]+)`)
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+:[^|]+) \|`).FindAllStringSubmatch(section, -1) {
		for part := range strings.SplitSeq(row[1], "; ") {
			found := entry.FindStringSubmatch(part)
			if found == nil {
				t.Fatalf("%q does not tell a right", part)
			}
			resource := strings.NewReplacer("'s ", "/", "' ", "/").Replace(strings.ToLower(found[1]))
			add(rights, resource, strings.Split(found[2], ", "))
		}
	}
	return slices.Sorted(maps.Keys(rights))
}

func add(rights map[string]bool, resource string, verbs []string) {
	for _, verb := range verbs {
		rights[fmt.Sprintf("%s: %s", resource, verb)] = true
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
