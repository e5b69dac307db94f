package registry

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// futureJobAnnotations are the ones of ours that tools may know from the documentation of other releases.
var futureJobAnnotations = []string{
	"stint.dev/backoff-seconds",
	"stint.dev/max-backoff-seconds",
	"stint.dev/failed-pods-limit",
	"stint.dev/pending-timeout-seconds",
	"stint.dev/depends-on",
}

// validateJobAnnotations refuses annotations that ask for what this release does not do. What is stored already
// stays, so that a Job from another release can still be changed and deleted.
func validateJobAnnotations(annotations, old map[string]string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range futureJobAnnotations {
		value, asked := annotations[key]
		if was, stored := old[key]; !asked || stored && was == value {
			continue
		}
		errs = append(errs, field.Forbidden(p.Key(key),
			fmt.Sprintf("this release does not have it yet: remove the annotation (its value is %q)", value)))
	}
	return errs
}
