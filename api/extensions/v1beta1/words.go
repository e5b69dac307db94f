package v1beta1

import "strings"

var sayings = strings.NewReplacer(
	"set spec.manualSelector to true", "leave out spec.autoSelector",
	"a Job with manualSelector: true must have", "a Job without autoSelector: true must have labels in its template, or",
	"manualSelector", "autoSelector",
)

// InWords returns how what is said of a batch/v1 Job and its selector reads in this version, where selectors are chosen
// the other way round.
func InWords(ofBatch string) string { return sayings.Replace(ofBatch) }
