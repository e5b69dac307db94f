package pod

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

//go:generate go test -run TestPodDocument -update .

var update = flag.Bool("update", false, "write docs/pods.md anew from the tables of rules")

const (
	podDocument = "../../../../docs/pods.md"
	tablesStart = "<!-- The rest is written by go generate ./internal/apiserver/registry/pod -->\n"
)

// TestPodDocument checks that the user documentation has the same fields as the rules.
func TestPodDocument(t *testing.T) {
	document, err := os.ReadFile(podDocument)
	if err != nil {
		t.Fatal(err)
	}
	introduction, _, found := strings.Cut(string(document), tablesStart)
	if !found {
		t.Fatalf("%s does not say where its tables start", podDocument)
	}
	want := introduction + tablesStart + ruleTables()
	if *update {
		if err := os.WriteFile(podDocument, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(document)); diff != "" {
		t.Errorf("run go generate ./internal/apiserver/registry/pod (-want +got):\n%s", diff)
	}
}

func ruleTables() string {
	var b strings.Builder
	for _, v := range []verdict{refuse, warn} {
		title := map[verdict]string{refuse: "Refused", warn: "Accepted with a warning"}[v]
		fmt.Fprintf(&b, "\n## %s\n\n| field | why, and what to do |\n|---|---|\n", title)
		rows(&b, v, "", podRules)
		rows(&b, v, "containers[].", containerRules)
		rows(&b, v, "containers[].env[].", envRules)
		rows(&b, v, "containers[].volumeMounts[].", mountRules)
		rows(&b, v, "containers[].securityContext.", securityRules)
		rows(&b, v, "ephemeralContainers[].", ephemeralRules)
		rows(&b, v, "volumes[].", volumeRules)
		rows(&b, v, "volumes[].projected.sources[].", projectionRules)
	}
	return b.String()
}

func rows[T any](b *strings.Builder, v verdict, prefix string, rules []rule[T]) {
	for _, r := range rules {
		if r.verdict != v {
			continue
		}
		where := ""
		if r.honoured != nil && r.honoured(registrytest.Able) {
			where = " (only where the machine allows no better)"
		}
		fmt.Fprintf(b, "| `%s` | %s%s |\n", strings.TrimSuffix(prefix+r.field, "."), r.reason, where)
	}
}
