package differential_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// comparison is one run of the corpus.
type comparison struct {
	kubernetes, stint *endpoint
	bases             map[string]any
	known             []*known
	report            report
}

func TestClusterAnswersAsStintDoes(t *testing.T) {
	bases, sections := loadCorpus(t)
	sections = append(sections, append(jobSections(), exampleSection(t))...)
	sections = append(sections, podSections(t)...)
	checkCorpus(t, bases, sections)
	c := &comparison{kubernetes: kubernetes(t), stint: stint(t), bases: bases, known: deliberate()}
	sections = append(sections, c.mixtures(sections)...)
	all := 0
	for i := range sections {
		c.section(t, &sections[i], i)
		all += len(sections[i].Cases)
	}
	walked := c.report.section("walks")
	for i := range *walks {
		c.walk(t, walked, i)
	}
	all += *walks * stepsOfAWalk
	ran := 0
	for _, s := range c.report.sections {
		ran += s.cases
	}
	if ran == all { // otherwise -run has selected some
		unmet(t, c.known)
	}
	c.report.finish(t, c.known)
}

func (c *comparison) section(t *testing.T, s *section, number int) {
	counts := c.report.section(s.Section)
	t.Run(s.Section, func(t *testing.T) {
		theirs, ours := c.both(t, s, fmt.Sprintf("section-%d", number))
		for _, name := range s.names() {
			t.Run(name, func(t *testing.T) { c.compare(t, counts, s.label(name), [2]*scene{theirs, ours}, s.Cases[name]) })
		}
	})
}

// both makes the section's scene on both servers.
func (c *comparison) both(t *testing.T, s *section, namespace string) (theirs, ours *scene) {
	t.Helper()
	theirs, err := newScene(c.kubernetes, s, c.bases[s.Base], namespace)
	must(t, err)
	ours, err = newScene(c.stint, s, c.bases[s.Base], namespace)
	must(t, err)
	return theirs, ours
}

func (c *comparison) compare(t *testing.T, counts *sectionReport, name string, scenes [2]*scene, change any) {
	var answers [2]answer
	var errs [2]error
	var both sync.WaitGroup
	for i, s := range scenes {
		both.Go(func() {
			var r reply
			if r, errs[i] = s.send(change); errs[i] == nil {
				answers[i], errs[i] = newAnswer(r)
			}
		})
	}
	both.Wait()
	must(t, errs[0])
	must(t, errs[1])
	theirs, ours := answers[0], answers[1]
	all := gaps(theirs, ours)
	wrong := c.unmeant(name, all)
	for _, g := range wrong {
		t.Error(g)
	}
	if len(wrong) > 0 {
		t.Logf("Kubernetes %d %v\nStint      %d %v\nchange %.2000s", theirs.code, union(theirs.messages, nil),
			ours.code, union(ours.messages, nil), encode(change))
	}
	counts.add(theirs, len(all) > 0 && c.differs(name), len(wrong) > 0)
	c.report.compareWording(name, theirs, ours)
}

// unmeant returns the gaps that no intended difference explains. An intended difference in a field also explains
// another code or reason.
func (c *comparison) unmeant(name string, all []gap) []gap {
	var verdict, wrong []gap
	explained := false
	for _, g := range all {
		field := strings.HasPrefix(g.about, "field ")
		switch {
		case c.meant(name, g):
			explained = explained || field
		case g.about == "code", g.about == "reason":
			verdict = append(verdict, g)
		default:
			wrong = append(wrong, g)
		}
	}
	if !explained || len(wrong) > 0 {
		wrong = append(verdict, wrong...)
	}
	return wrong
}

// meant reports whether a gap is in the list. It checks every entry, since each must be met by some case.
func (c *comparison) meant(name string, g gap) bool {
	found := false
	for _, k := range c.known {
		if k.covers(name, g) {
			found = true
		}
	}
	return found
}
