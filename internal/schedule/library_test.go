package schedule

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/robfig/cron/v3"
)

// kubernetes returns the times in (from, until] at which kube-controller-manager starts Jobs: it puts the zone before the
// expression and calls the library's Next again and again.
func kubernetes(t *testing.T, text, zoneName string, from, until time.Time) []string {
	t.Helper()
	s, err := cron.ParseStandard("TZ=" + zoneName + " " + text)
	if err != nil {
		t.Fatal(err)
	}
	z := zone(t, zoneName)
	var all []string
	for at := s.Next(from); !at.IsZero() && !at.After(until); at = s.Next(at) {
		all = append(all, at.In(z).Format(shown))
	}
	return all
}

func ours(t *testing.T, text, zoneName string, from, until time.Time) []string {
	t.Helper()
	z := zone(t, zoneName)
	var all []string
	for _, at := range parsed(t, text).In(z, from).Due(from, until, 1<<20) {
		all = append(all, at.In(z).Format(shown))
	}
	return all
}

var expressions = []string{
	"30 2 * * *", "0 2 * * *", "30 1 * * *", "0 3 * * *", "0 0 * * *", "59 23 * * *", "*/20 * * * *", "7 * * * *", "15 */2 * * *",
	"30 1-3 * * 0", "30 2 29 3 *", "0 0 1 * *", "30 2 * 3,10 0", "45 1 1-8 11 *", "0 3 31 * 1", "0 0 29 2 *", "@hourly", "@weekly",
}

// In zones whose clocks change by a whole hour, and not at midnight, all due times of a year are as in Kubernetes.
func TestCronIsDueAsInKubernetes(t *testing.T) {
	from := time.Date(2026, 1, 1, 0, 0, 30, 0, time.UTC)
	for _, name := range []string{berlin, newYork, "UTC", "Australia/Sydney", "America/St_Johns", "Asia/Kolkata"} {
		for _, text := range expressions {
			want := kubernetes(t, text, name, from, from.AddDate(1, 0, 0))
			if diff := cmp.Diff(want, ours(t, text, name, from, from.AddDate(1, 0, 0))); diff != "" {
				t.Errorf("%s in %s (-kubernetes +ours):\n%s", text, name, diff)
			}
		}
	}
}

// In other zones Kubernetes leaves out times that clocks do show, depending on the time from which it computes the next one.
// Here they are due; nothing else is different.
func TestWhatKubernetesLeavesOut(t *testing.T) {
	from := time.Date(2026, 1, 1, 0, 0, 30, 0, time.UTC)
	for sentence, c := range map[string]struct {
		text, zone string
		want       []string
	}{
		"the hour after clocks went back by half an hour": {"0 2 * * *", lordHowe, []string{"2026-04-05 02:00:00 +10:30"}},
		"a weekday without a midnight":                    {"30 3 * * 5", "Africa/Cairo", []string{"2026-04-24 03:30:00 +03:00"}},
		"a day of the month without a midnight":           {"30 3 24 4 *", "Africa/Cairo", []string{"2026-04-24 03:30:00 +03:00"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			until := from.AddDate(1, 0, 0)
			theirs := map[string]bool{}
			for _, at := range kubernetes(t, c.text, c.zone, from, until) {
				theirs[at] = true
			}
			var more []string
			for _, at := range ours(t, c.text, c.zone, from, until) {
				if !theirs[at] {
					more = append(more, at)
				}
				delete(theirs, at)
			}
			if diff := cmp.Diff(c.want, more); diff != "" || len(theirs) > 0 {
				t.Errorf("more than in Kubernetes (-want +got):\n%s\nmissing: %v", diff, theirs)
			}
		})
	}
}
