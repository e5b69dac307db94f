package scenario_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// tableVariable names the file to write the table to.
const tableVariable = "STINT_SCENARIO_TABLE"

// table has the result of every scenario in every column.
type table struct {
	mu        sync.Mutex
	scenarios []scenario
	results   map[[2]string]result
}

// columns in the order of the table.
var columns = []string{onServer, onCluster, onReference}

// The outcomes.
const (
	passed   = "ok"
	failedIt = "FAILED"
	notRun   = "not run"
)

type result struct {
	outcome string
	took    time.Duration
	// differs is set where Stint differs from upstream, so that the reference played another story.
	differs bool
}

// results are those of all columns that were played so far, by one test or by several.
var results = newTable(all())

func newTable(scenarios []scenario) *table {
	return &table{scenarios: scenarios, results: map[[2]string]result{}}
}

func (t *table) set(scenario, column string, r result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.results[[2]string{scenario, column}] = r
}

// print writes one line for each scenario, the totals, and which scenarios differ between columns and why.
func (t *table) print(tb testing.TB) {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "SCENARIO\t%s\n", strings.Join(columns, "\t"))
	for _, s := range t.scenarios {
		t.line(w, s.name, func(column string) string { return t.results[[2]string{s.name, column}].String() })
	}
	t.line(w, "", func(string) string { return "" })
	t.line(w, fmt.Sprintf("%d scenarios", len(t.scenarios)), t.total)
	w.Flush()
	t.remarks(&out)
	tb.Logf("\n%s", out.String())
	if file := os.Getenv(tableVariable); file != "" {
		if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
			tb.Error(err)
		}
	}
}

func (t *table) line(w io.Writer, name string, cell func(column string) string) {
	fmt.Fprint(w, name)
	for _, column := range columns {
		fmt.Fprint(w, "\t", cell(column))
	}
	fmt.Fprintln(w)
}

func (r result) String() string {
	switch {
	case r.outcome == "":
		return "-" // -run asked for others
	case r.outcome == notRun:
		return r.outcome
	case r.differs:
		return fmt.Sprintf("%-6s %5.1f s, differs", r.outcome, r.took.Seconds())
	}
	return fmt.Sprintf("%-6s %5.1f s", r.outcome, r.took.Seconds())
}

// total counts the outcomes of a column.
func (t *table) total(column string) string {
	count := map[string]int{}
	for _, s := range t.scenarios {
		if r := t.results[[2]string{s.name, column}]; r.outcome != "" {
			count[r.outcome]++
		}
	}
	var parts []string
	for _, outcome := range []string{passed, failedIt, notRun} {
		if count[outcome] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[outcome], outcome))
		}
	}
	return strings.Join(parts, ", ")
}

func (t *table) remarks(out io.Writer) {
	fmt.Fprint(out, "\nDifferences from Kubernetes that are meant:\n")
	for _, s := range t.scenarios {
		if s.differs != "" {
			fmt.Fprintf(out, "- %s:\n  %s\n", s.name, s.differs)
		}
	}
	fmt.Fprint(out, "\nNot run everywhere:\n")
	for _, s := range t.scenarios {
		for _, column := range slices.Sorted(maps.Keys(s.notOn)) {
			fmt.Fprintf(out, "- %s:\n  not on %s: %s\n", s.name, column, s.notOn[column])
		}
	}
}
