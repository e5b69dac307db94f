package differential_test

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

//go:embed testdata
var corpus embed.FS

// section is a group of requests that differ from each other in one change. testdata holds them as YAML documents.
type section struct {
	// Section is the name of the group, unique in the corpus.
	Section string  `json:"section"`
	Request request `json:"request"`
	// Subresource is the name of one, such as "status", for requests to it.
	Subresource string `json:"subresource"`
	// Base names a manifest of bases.yaml. It is created by the request, or stored before it.
	Base string `json:"base"`
	// With changes the base for all cases.
	With any `json:"with"`
	// AppliedBy is the field manager that has applied the stored object by server-side apply; "" for an ordinary
	// creation.
	AppliedBy string `json:"appliedBy"`
	// EphemeralContainers are added to the stored pod, and Status is the status of the stored object.
	EphemeralContainers any `json:"ephemeralContainers"`
	Status              any `json:"status"`
	// Query is added to the URL.
	Query map[string]string `json:"query"`
	// Cases are the changes, each with a sentence or a few words as its name.
	Cases map[string]any `json:"cases"`

	// wet is set where requests change what is stored. All others are dry runs.
	wet bool
}

// request is the way in which a change is sent.
type request string

const (
	// create posts the base with the change.
	create request = "create"
	// update changes the stored object, as the server returns it, and puts it.
	update request = "update"
	// replace puts the base with the change, without resourceVersion and uid: kubectl replace.
	replace request = "replace"
	// The body of a patch is the change itself.
	jsonPatch      request = "json-patch"
	mergePatch     request = "merge-patch"
	strategicPatch request = "strategic-patch"
	// apply is a server-side apply; kind and name of the base are put into the body.
	apply request = "apply"
	// applyNew applies where nothing is stored.
	applyNew request = "apply-new"
	// remove deletes what is stored; the change is the body, DeleteOptions.
	remove request = "delete"
	// table gets what is stored as kubectl get does; the change is nothing.
	table request = "table"
)

func loadCorpus(t testing.TB) (bases map[string]any, sections []section) {
	t.Helper()
	files, err := fs.Glob(corpus, "testdata/*.yaml")
	must(t, err)
	bases = map[string]any{}
	for _, file := range files {
		text, err := corpus.ReadFile(file)
		must(t, err)
		if strings.HasSuffix(file, "bases.yaml") {
			more := map[string]any{}
			must(t, yaml.UnmarshalStrict(text, &more))
			maps.Copy(bases, more)
			continue
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			var s section
			if err := yaml.UnmarshalStrict([]byte(document), &s); err != nil {
				t.Fatalf("%s: %v in\n%s", file, err, document)
			}
			sections = append(sections, s)
		}
	}
	return bases, sections
}

// checkCorpus finds mistakes in the corpus itself.
func checkCorpus(t testing.TB, bases map[string]any, sections []section) {
	t.Helper()
	seen := map[string]bool{}
	for _, s := range sections {
		if s.Section == "" || seen[s.Section] {
			t.Errorf("section %q has no name of its own", s.Section)
		}
		seen[s.Section] = true
		if bases[s.Base] == nil {
			t.Errorf("section %q: no base %q", s.Section, s.Base)
		}
		if contentTypes[s.Request] == "" {
			t.Errorf("section %q: no request %q", s.Section, s.Request)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

func (s *section) names() []string { return slices.Sorted(maps.Keys(s.Cases)) }

func (s *section) label(name string) string { return fmt.Sprintf("%s: %s", s.Section, name) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
