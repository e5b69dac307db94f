package cli

import (
	"slices"
	"strings"
)

// offer is the controllers that a command can run.
type offer struct {
	all []string
	// onRequest are those of them that run only where they are named: * leaves them out.
	onRequest []string
}

func (o offer) String() string {
	text := "there are " + strings.Join(o.all, ", ")
	if len(o.onRequest) > 0 {
		text += "; * leaves out " + strings.Join(o.onRequest, ", ")
	}
	return text
}

// chosen reads the flag --controllers as kube-controller-manager does: the first word that speaks of a
// controller decides, and * of those that none speaks of. Its long names, such as job-controller, mean the same.
func (o offer) chosen(asked []string) ([]string, error) {
	var words []string
	for _, word := range asked {
		word = strings.TrimSuffix(word, "-controller")
		if word != "*" && !slices.Contains(o.all, strings.TrimPrefix(word, "-")) {
			return nil, badInputf("--controllers: there is no %q: choose from %s, or * for all", word, strings.Join(o.all, ", "))
		}
		words = append(words, word)
	}
	chosen := []string{}
	for _, name := range o.all {
		first := slices.IndexFunc(words, func(word string) bool { return strings.TrimPrefix(word, "-") == name })
		if first >= 0 && words[first] == name || first < 0 && slices.Contains(words, "*") && !slices.Contains(o.onRequest, name) {
			chosen = append(chosen, name)
		}
	}
	return chosen, nil
}
