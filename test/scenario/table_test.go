package scenario_test

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// tableVariable names the file to write the table to.
const tableVariable = "STINT_SCENARIO_TABLE"

// table is what came of every scenario in every column.
type table struct {
	mu        sync.Mutex
	scenarios []scenario
	results   map[[2]string]result
}

type result struct {
	outcome, note string
	took          time.Duration
}

func newTable(scenarios []scenario) *table {
	return &table{scenarios: scenarios, results: map[[2]string]result{}}
}

func (t *table) set(scenario, column string, r result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.results[[2]string{scenario, column}] = r
}

func (t *table) print(tb testing.TB) {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "SCENARIO\t%s\t%s\t%s\n", onServer, onCluster, onReference)
	for _, s := range t.scenarios {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.name, t.cell(s, onServer), t.cell(s, onCluster), t.cell(s, onReference))
	}
	w.Flush()
	t.remarks(&out)
	tb.Logf("\n%s", out.String())
	if file := os.Getenv(tableVariable); file != "" {
		if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
			tb.Error(err)
		}
	}
}

func (t *table) cell(s scenario, column string) string {
	r, known := t.results[[2]string{s.name, column}]
	switch {
	case !known:
		return "-"
	case r.took == 0:
		return r.outcome
	}
	cell := fmt.Sprintf("%s %.1fs", r.outcome, r.took.Seconds())
	if r.note != "" {
		cell += ", " + r.note
	}
	return cell
}

func (t *table) remarks(out *bytes.Buffer) {
	for _, s := range t.scenarios {
		if s.differs != "" {
			fmt.Fprintf(out, "\n%s: differs from upstream: %s\n", s.name, s.differs)
		}
		for column, why := range s.notOn {
			fmt.Fprintf(out, "\n%s: not on %s: %s\n", s.name, column, why)
		}
	}
}
