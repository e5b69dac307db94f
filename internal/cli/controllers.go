package cli

import (
	"slices"
	"strings"
)

// chosenControllers reads the flag --controllers as kube-controller-manager does: the first word that speaks of a
// controller decides, and * of those that none speaks of. Its long names, such as job-controller, mean the same.
func chosenControllers(asked, known []string) ([]string, error) {
	var words []string
	for _, word := range asked {
		word = strings.TrimSuffix(word, "-controller")
		if word != "*" && !slices.Contains(known, strings.TrimPrefix(word, "-")) {
			return nil, badInputf("--controllers: there is no %q: choose from %s, or * for all", word, strings.Join(known, ", "))
		}
		words = append(words, word)
	}
	chosen := []string{}
	for _, name := range known {
		first := slices.IndexFunc(words, func(word string) bool { return strings.TrimPrefix(word, "-") == name })
		if first >= 0 && words[first] == name || first < 0 && slices.Contains(words, "*") {
			chosen = append(chosen, name)
		}
	}
	return chosen, nil
}
