package differential_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// difference is an intended difference. The test fails when it no longer exists.
type difference struct {
	// cases are those that differ; one that ends in * matches by prefix, and an empty list matches all.
	cases []string
	// gaps is a pattern of what differs in them, as gap.about says it.
	gaps string
	// mixed is set where random mixtures may show the difference too.
	mixed bool
	// reason is why Stint differs.
	reason string
}

// deliberate lists every intended difference from Kubernetes, collected from the files that describe them.
func deliberate() []*known {
	var all []*known
	for _, d := range slices.Concat(jobDifferences, podDifferences, storageDifferences) {
		all = append(all, &known{difference: d, pattern: regexp.MustCompile("^(" + d.gaps + ")$"), met: map[string]bool{}})
	}
	return all
}

// known is an intended difference and where it was met.
type known struct {
	difference
	pattern *regexp.Regexp
	// met holds the entries of cases (or "") under which it was met.
	met   map[string]bool
	count int
}

// covers reports whether the gap of the case is intended, and records that it was met.
func (k *known) covers(name string, g gap) bool {
	if !k.pattern.MatchString(g.about) {
		return false
	}
	covered := k.mixed && strings.HasPrefix(name, mixturesPrefix)
	if len(k.cases) == 0 {
		covered, k.met[""] = true, true
	}
	for _, entry := range k.cases {
		start, open := strings.CutSuffix(entry, "*")
		if name == entry || open && strings.HasPrefix(name, start) {
			k.met[entry] = true
			covered = true
		}
	}
	if covered {
		k.count++
	}
	return covered
}

// names reports whether the difference is about this case.
func (k *known) names(name string) bool {
	for _, entry := range k.cases {
		start, open := strings.CutSuffix(entry, "*")
		if name == entry || open && strings.HasPrefix(name, start) {
			return true
		}
	}
	return false
}

// unmet fails the test for every difference that no longer exists.
func unmet(t testing.TB, all []*known) {
	t.Helper()
	for _, k := range all {
		entries := k.cases
		if len(entries) == 0 {
			entries = []string{""}
		}
		for _, entry := range entries {
			if !k.met[entry] {
				t.Errorf("no difference in %q any more for %q: remove it from the list (%s)", k.gaps, entry, k.reason)
			}
		}
	}
}
