// Package docs tests that the documentation for users is correct.
package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-dev/stint/internal/schedule"
)

func TestSchedulesAreDueAsTheTableSays(t *testing.T) {
	text, err := os.ReadFile("schedules.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (?:`([^`]+)`)? ?\\| [^|]+ \\| ([0-9TZ:+, -]+) \\|$")
	rows := row.FindAllStringSubmatch(string(text), -1)
	if len(rows) < 10 {
		t.Fatalf("the table has %d rows that can be read", len(rows))
	}
	since := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	for _, cells := range rows {
		t.Run(cells[1], func(t *testing.T) {
			spec, err := schedule.Parse(cells[1])
			if err != nil {
				t.Fatal(err)
			}
			zone, err := schedule.LoadZone(cells[2])
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(cells[3], ", ")
			var got []string
			for _, due := range spec.In(zone, since).Due(time.Time{}, since.AddDate(10, 0, 0), len(want)) {
				got = append(got, due.In(zone).Format(time.RFC3339))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
