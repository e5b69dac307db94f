package differential_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
)

var (
	seed     = flag.Uint64("seed", 1, "of the random mixtures")
	mixtures = flag.Int("mixtures", 200, "how many random mixtures of changes to send")
)

// mixtures are creations with two to four changes of the corpus at once, at random. Changes that are answered
// differently by themselves, and meant to be, are left out.
func (c *comparison) mixtures(sections []section) []section {
	c.report.seed = *seed
	random := rand.New(rand.NewPCG(*seed, 0))
	mixed := section{Section: "mixtures", Request: create, Base: "job", Cases: map[string]any{}}
	changes := c.mixable(sections)
	for i := range *mixtures {
		var mixture any = map[string]any{}
		for range 2 + random.IntN(3) {
			mixture = merged(mixture, changes[random.IntN(len(changes))])
		}
		mixed.Cases[fmt.Sprintf("%03d", i)] = mixture
	}
	return []section{mixed}
}

// mixable are the changes of creations that can be put together: merge patches on the plain Job.
func (c *comparison) mixable(sections []section) []map[string]any {
	var all []map[string]any
	for i := range sections {
		s := &sections[i]
		if s.Request != create || s.Base != "job" || len(s.Query) > 0 {
			continue
		}
		base, _ := s.With.(map[string]any)
		if s.With != nil && base == nil {
			continue
		}
		for _, name := range s.names() {
			if change, ok := s.Cases[name].(map[string]any); ok && !c.differs(s.label(name)) {
				all = append(all, merged(base, change).(map[string]any))
			}
		}
	}
	return all
}

func (c *comparison) differs(name string) bool {
	for _, k := range c.known {
		if k.names(strings.TrimSpace(name)) {
			return true
		}
	}
	return false
}
