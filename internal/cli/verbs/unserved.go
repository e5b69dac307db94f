package verbs

import (
	"regexp"

	"github.com/stint-dev/stint/internal/cli/target"
)

// For a kind that is not served, kubectl's error asks to install a CustomResourceDefinition. Stint does not serve these.
var (
	noMatch = regexp.MustCompile(`(?m)^(?:error: )?resource mapping not found for name: "([^"]*)" namespace: "[^"]*" from "([^"]*)": ` +
		`no matches for kind "([^"]+)" in version "([^"]+)"\nensure CRDs are installed first`)
	noList = regexp.MustCompile(`(?m)error validating "([^"]*)": error validating data: failed to check CRD: failed to list CRDs: ` +
		`the server could not find the requested resource.*`)
)

// aboutUnserved replaces kubectl's errors about kinds that the server on this machine does not serve.
func aboutUnserved(text string, kind target.Kind) string {
	if kind == target.Cluster {
		return text
	}
	const remedy = "is not served by Stint: leave it out, or name a cluster that has it with --kubeconfig (stint api-resources lists what is served)"
	text = noMatch.ReplaceAllString(text, `${2}: ${3} "${1}" (${4}) `+remedy)
	return noList.ReplaceAllString(text, "${1}: one of its kinds "+remedy)
}
