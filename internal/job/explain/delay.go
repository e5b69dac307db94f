package explain

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

// delay is the backoff after failures, of the Job or of its indexes.
type delay struct {
	backoff job.Backoff
	// until is when the next pod may be created; zero if none has to wait.
	until time.Time
	// idle is set where no pod is active or about to be created.
	idle bool
	// perIndex is set where each index has a delay of its own.
	perIndex bool
}

func newDelay(a *job.Assessment, idle bool) delay {
	return delay{backoff: a.Backoff, until: a.NextPod, idle: idle, perIndex: a.Job.Spec.BackoffLimitPerIndex != nil}
}

func (d delay) applies() bool       { return !d.until.IsZero() }
func (d delay) isTotal() bool       { return d.applies() && d.idle }
func (d delay) since() *metav1.Time { return timeOrNil(d.backoff.Since) }

func (d delay) summary() string {
	if n := d.backoff.Indexes.Count(); d.perIndex && n > 0 {
		return fmt.Sprintf("waits after failures: %s to be tried again", counted(n, "index"))
	}
	return fmt.Sprintf("waits after %s in a row", counted(d.backoff.Failures, "failure"))
}

func (d delay) waits() []stintv1.JobWait {
	w := stintv1.JobWait{For: stintv1.WaitForDelay, Since: d.since(), Until: timeOrNil(d.until)}
	if d.perIndex {
		n := d.backoff.Indexes.Count()
		w.Count = int32(n)
		w.Message = fmt.Sprintf("%s %s: %s", counted(n, "index"), verb(n, "has failed and waits", "have failed and wait"),
			abbreviated(d.backoff.Indexes))
	} else {
		w.Message = fmt.Sprintf("%s after %s in a row", humanDuration(d.backoff.Delay), counted(d.backoff.Failures, "failure"))
	}
	return []stintv1.JobWait{w}
}
