package explain

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

// refusal is the API server's refusal to create pods.
type refusal struct {
	// first is when it refused the first of several in a row; nil if it refuses none.
	first   *metav1.Time
	message string
	// retryAt is when the controller tries again; zero if it does at once.
	retryAt time.Time
	// timesAssumed is set if it is not known when the controller tries again.
	timesAssumed bool
	// podless is set while no pod is active.
	podless bool
}

// newRefusal uses what the controller observed or, without that, the events.
func newRefusal(a *job.Assessment, about Circumstances) refusal {
	r := refusal{timesAssumed: about.TimesAssumed, podless: len(a.Active) == 0}
	if a.NextCreateAt.After(a.Now) {
		r.retryAt = a.NextCreateAt
	}
	switch {
	case a.CreateFailure != nil:
		r.first, r.message = timeOrNil(a.CreateFailure.Since), a.CreateFailure.Message
	case a.Create > 0 || r.isDelayed() || a.ExternalController:
		r.first, r.message = events(about.Events).refusal(a.Job.UID)
	}
	return r
}

func (r refusal) applies() bool       { return r.first != nil }
func (r refusal) isTotal() bool       { return r.applies() && r.podless }
func (r refusal) isDelayed() bool     { return !r.retryAt.IsZero() }
func (r refusal) since() *metav1.Time { return r.first }
func (r refusal) summary() string     { return "gets no pods: the server refuses them" }

func (r refusal) waits() []stintv1.JobWait {
	return []stintv1.JobWait{{For: stintv1.WaitForCreation, Message: strings.TrimPrefix(r.message, "Error creating: "),
		Since: r.first, Until: timeOrNil(r.retryAt)}}
}

func (r refusal) step() []stintv1.JobStep {
	if r.isDelayed() || r.timesAssumed {
		return stepAt(r.retryAt, "tries again to create pods")
	}
	return step("tries again to create pods, at least every minute")
}
