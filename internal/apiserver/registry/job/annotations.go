package job

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	core "github.com/stint-dev/stint/internal/job"
)

// ValidateAnnotations refuses invalid values of Stint's annotations. It accepts the errors that old already has, so that a
// Job stored by another release can still be changed and deleted.
func ValidateAnnotations(annotations, old map[string]string, p *field.Path) field.ErrorList {
	_, errs := core.ReadAnnotations(annotations, p)
	if len(errs) == 0 {
		return nil
	}
	_, stored := core.ReadAnnotations(old, p)
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		return slices.ContainsFunc(stored, func(other *field.Error) bool { return err.Error() == other.Error() })
	})
}

// ownPrefix is the prefix of all annotations of Stint.
const ownPrefix = "stint.dev/"

// WarnAnnotations warns about new annotations that are likely misspelt and so have no effect.
func WarnAnnotations(annotations, old map[string]string, p *field.Path) []string {
	var warnings []string
	known := core.Annotations()
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		name, own := strings.CutPrefix(key, ownPrefix)
		if _, stored := old[key]; stored || !own || slices.Contains(known, key) {
			continue
		}
		nearest := slices.MinFunc(known, func(a, b string) int {
			return editDistance(name, a[len(ownPrefix):]) - editDistance(name, b[len(ownPrefix):])
		})
		if editDistance(name, nearest[len(ownPrefix):]) <= len(name)/4 {
			warnings = append(warnings, fmt.Sprintf("%s: this annotation has no effect: did you mean %s?", p.Key(key), nearest))
		}
	}
	return warnings
}

// editDistance returns how many characters must be inserted, removed or replaced to change a to b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
