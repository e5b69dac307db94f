package differential_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var reportFile = flag.String("report", "", "write the report to this file")

// report counts what was compared.
type report struct {
	sections []*sectionReport
	wording  []string
	seed     uint64
}

type sectionReport struct {
	name                                   string
	cases, accepted, refused, meant, wrong int
}

func (r *report) section(name string) *sectionReport {
	s := &sectionReport{name: name}
	r.sections = append(r.sections, s)
	return s
}

// add counts a case.
func (s *sectionReport) add(theirs answer, meant, wrong bool) {
	s.cases++
	switch {
	case wrong:
		s.wrong++
	case meant:
		s.meant++
	}
	if theirs.code < 400 {
		s.accepted++
	} else {
		s.refused++
	}
}

// compareWording records messages that say the same in other words. That is no failure.
func (r *report) compareWording(name string, theirs, ours answer) {
	for _, message := range union(theirs.messages, ours.messages) {
		switch {
		case theirs.messages[message] && !ours.messages[message]:
			r.wording = append(r.wording, fmt.Sprintf("%s\n  K %s", name, message))
		case ours.messages[message] && !theirs.messages[message]:
			r.wording = append(r.wording, fmt.Sprintf("%s\n  S %s", name, message))
		}
	}
}

func (r *report) String() string {
	var b strings.Builder
	var total sectionReport
	fmt.Fprintf(&b, "%-58s %6s %9s %8s %6s %6s\n", "section", "cases", "accepted", "refused", "meant", "wrong")
	for _, s := range r.sections {
		s.write(&b)
		total.cases += s.cases
		total.accepted += s.accepted
		total.refused += s.refused
		total.meant += s.meant
		total.wrong += s.wrong
	}
	total.name = "all"
	total.write(&b)
	fmt.Fprintf(&b, "\naccepted, refused: by Kubernetes. meant: the case is named in the list below. seed of the mixtures: %d\n", r.seed)
	return b.String()
}

func (s *sectionReport) write(b *strings.Builder) {
	fmt.Fprintf(b, "%-58s %6d %9d %8d %6d %6d\n", s.name, s.cases, s.accepted, s.refused, s.meant, s.wrong)
}

// finish logs the report, with the differences that are meant, and writes it to the file that was asked for.
func (r *report) finish(t testing.TB, known []*known) {
	t.Helper()
	text := r.String() + "\nDifferences that are meant:\n"
	for _, k := range known {
		text += fmt.Sprintf("- %s\n  %s in %s (met %d times)\n", k.reason, k.gaps, orAll(k.cases), k.count)
	}
	t.Log("\n" + text)
	if *reportFile == "" {
		return
	}
	slices.Sort(r.wording)
	text += "\nThe same said in other words (K Kubernetes, S Stint):\n" + strings.Join(r.wording, "\n") + "\n"
	must(t, os.WriteFile(*reportFile, []byte(text), 0o600))
}

// orAll returns the cases of a difference, or "all cases" where it has none.
func orAll(cases []string) string {
	if len(cases) == 0 {
		return "all cases"
	}
	return strings.Join(cases, "; ")
}
