package env_test

import (
	"strings"
	"testing"

	"github.com/stint-dev/stint/internal/node/env"
)

func known(name string) (string, bool) {
	values := map[string]string{"A": "1", "B": "two words", "EMPTY": "", "REF": "$(A)"}
	value, ok := values[name]
	return value, ok
}

func TestExpand(t *testing.T) {
	for sentence, c := range map[string]struct{ text, want string }{
		"plain text stays":                            {"hello", "hello"},
		"a reference is replaced":                     {"x$(A)y", "x1y"},
		"several are":                                 {"$(A)-$(B)", "1-two words"},
		"an empty value is a value":                   {"<$(EMPTY)>", "<>"},
		"unknown names stay":                          {"$(NOPE)", "$(NOPE)"},
		"two dollars are one":                         {"$$", "$"},
		"two dollars keep a reference as text":        {"$$(A)", "$(A)"},
		"three dollars are a dollar and a reference":  {"$$$(A)", "$1"},
		"a value is not expanded again":               {"$(REF)", "$(A)"},
		"a dollar before anything else stays":         {"$A ${A} 5$", "$A ${A} 5$"},
		"a reference without its end stays":           {"$(A", "$(A"},
		"the first closing bracket ends a reference":  {"$(A))", "1)"},
		"a reference to nothing stays":                {"$()", "$()"},
		"text from other languages passes unharmed":   {"größe=$(A)€", "größe=1€"},
		"a bracket inside belongs to an unknown name": {"$($(A))", "$($(A))"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := env.Expand(c.text, known); got != c.want {
				t.Errorf("Expand(%q) = %q, want %q", c.text, got, c.want)
			}
		})
	}
}

// Text in which every dollar is doubled expands to the original text.
func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"", "$", "$$", "$(A)", "$$(A)", "$(", "$()"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		escaped := strings.ReplaceAll(text, "$", "$$")
		if got := env.Expand(escaped, known); got != text {
			t.Errorf("Expand(%q) = %q, want %q", escaped, got, text)
		}
	})
}
