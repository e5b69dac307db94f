package differential_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
)

var (
	seed     = flag.Uint64("seed", 1, "of the random mixtures")
	mixtures = flag.Int("mixtures", 200, "how many random mixtures of changes to send")
)

// mixturesPrefix begins the names of the sections of mixtures.
const mixturesPrefix = "mixtures"

// mixtures are creations with two to four random changes of the corpus at once. Changes that have an intended
// difference of their own are left out.
func (c *comparison) mixtures(sections []section) []section {
	c.report.seed = *seed
	random := rand.New(rand.NewPCG(*seed, 0))
	mixed := section{Section: mixturesPrefix, Request: create, Base: "job", Cases: map[string]any{}}
	changes := c.mixable(sections)
	mix(&mixed, changes, *mixtures, random)
	return append([]section{mixed}, c.mixedUpdates(sections, random)...)
}

// mix adds n cases, each of two to four changes.
func mix(s *section, changes []map[string]any, n int, random *rand.Rand) {
	for i := range n {
		var mixture any = map[string]any{}
		for range 2 + random.IntN(3) {
			mixture = merged(mixture, changes[random.IntN(len(changes))])
		}
		s.Cases[fmt.Sprintf("%03d", i)] = mixture
	}
}

// mixedUpdates are mixtures of updates within one section each, since what is stored differs between sections.
func (c *comparison) mixedUpdates(sections []section, random *rand.Rand) []section {
	var all []section
	for _, s := range sections {
		var changes []map[string]any
		for _, name := range s.names() {
			if change, ok := s.Cases[name].(map[string]any); ok && !c.differs(s.label(name)) {
				changes = append(changes, change)
			}
		}
		if s.Request != update || len(changes) < 2 {
			continue
		}
		s.Section, s.Cases = mixturesPrefix+" of "+s.Section, map[string]any{}
		mix(&s, changes, min(len(changes), *mixtures), random)
		all = append(all, s)
	}
	return all
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

// differs reports whether the list names the case.
func (c *comparison) differs(name string) bool {
	for _, k := range c.known {
		if k.names(name) {
			return true
		}
	}
	return false
}
