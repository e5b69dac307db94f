package controllerflags

import (
	"slices"
	"strings"

	"github.com/stint-dev/stint/internal/cli/command"
)

// Offer is the controllers that a command can run.
type Offer struct {
	All []string
	// OnRequest are those of All that run only if they are named: * does not include them.
	OnRequest []string
}

func (o Offer) String() string {
	text := "there are " + strings.Join(o.All, ", ")
	if len(o.OnRequest) > 0 {
		text += "; * leaves out " + strings.Join(o.OnRequest, ", ")
	}
	return text
}

// chosen reads the flag --controllers as kube-controller-manager does: the first word that names a controller decides about
// it, and * about those that no word names. Kubernetes' long names, such as job-controller, are accepted as well.
func (o Offer) chosen(asked []string) ([]string, error) {
	var words []string
	for _, word := range asked {
		word = strings.TrimSuffix(word, "-controller")
		if word != "*" && !slices.Contains(o.All, strings.TrimPrefix(word, "-")) {
			return nil, command.BadInputf("--controllers: there is no %q: choose from %s, or * for all", word, strings.Join(o.All, ", "))
		}
		words = append(words, word)
	}
	chosen := []string{}
	for _, name := range o.All {
		first := slices.IndexFunc(words, func(word string) bool { return strings.TrimPrefix(word, "-") == name })
		if first >= 0 && words[first] == name || first < 0 && slices.Contains(words, "*") && !slices.Contains(o.OnRequest, name) {
			chosen = append(chosen, name)
		}
	}
	return chosen, nil
}
