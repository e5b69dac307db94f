package scheduledjob

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestALife follows one run from its due time to its end.
func TestALife(t *testing.T) {
	sj := every(60)
	d := Decide(seen(sj, 0))
	if len(d.Create) != 1 || d.Create[0].Name != "report-20260301-120000" || !d.LookAgain.Equal(at(60)) {
		t.Fatalf("creates %v, looks again at %v", d.starts, d.LookAgain)
	}
	sj.Status = d.Status(created(d, at(0)))
	if diff := cmp.Diff([]string{tagAt(0)}, tags(sj.Status.RunningExecutions)); diff != "" {
		t.Errorf("running: %s", diff)
	}
	job := jobOf(sj, tagAt(0), 0, completeAt(7))
	d = Decide(seen(sj, 8, job))
	sj.Status = d.Status(nil)
	e := sj.Status.CompletedExecutions
	if len(e) != 1 || !*e[0].Success || !e[0].CompletedAt.Time.Equal(at(7)) || len(d.Create) != 0 {
		t.Errorf("completed %+v, creates %v", e, d.starts)
	}
}
