package v1beta1

import "strings"

var replacements = strings.NewReplacer(
	"set spec.manualSelector to true", "leave out spec.autoSelector",
	"a Job with manualSelector: true must have", "a Job without autoSelector: true must have labels in its template, or",
	"manualSelector", "autoSelector",
)

// ConvertMessage rewrites a message about a batch/v1 Job for a client of this version: it names autoSelector instead of
// manualSelector, with the opposite meaning.
func ConvertMessage(ofBatch string) string { return replacements.Replace(ofBatch) }
