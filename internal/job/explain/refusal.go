package explain

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

// refusal is that of the server to make pods.
type refusal struct {
	// first is when it refused the first in a row; nil where it refuses none.
	first   *metav1.Time
	message string
	// again is until when the server is not asked; zero where it is asked at once.
	again time.Time
	// timesAssumed is set where it is not known when the server is asked again.
	timesAssumed bool
	// podless is set while no pod is active.
	podless bool
}

// newRefusal goes by what the controller remembers, else by what the events tell.
func newRefusal(a *job.Assessment, about Circumstances) refusal {
	r := refusal{timesAssumed: about.TimesAssumed, podless: len(a.Active) == 0}
	if a.NextCreateAt.After(a.Now) {
		r.again = a.NextCreateAt
	}
	switch {
	case a.CreateFailure != nil:
		r.first, r.message = timeOrNil(a.CreateFailure.Since), a.CreateFailure.Message
	case a.Create > 0 || r.isHeldOff() || a.ExternalController:
		r.first, r.message = events(about.Events).refusal(a.Job.UID)
	}
	return r
}

func (r refusal) applies() bool       { return r.first != nil }
func (r refusal) isTotal() bool       { return r.applies() && r.podless }
func (r refusal) isHeldOff() bool     { return !r.again.IsZero() }
func (r refusal) since() *metav1.Time { return r.first }
func (r refusal) summary() string     { return "gets no pods: the server refuses them" }

func (r refusal) waits() []stintv1.JobWait {
	return []stintv1.JobWait{{For: stintv1.WaitForCreation, Message: strings.TrimPrefix(r.message, "Error creating: "),
		Since: r.first, Until: timeOrNil(r.again)}}
}

func (r refusal) step() []stintv1.JobStep {
	if r.isHeldOff() || r.timesAssumed {
		return stepAt(r.again, "tries to create pods again")
	}
	return step("tries to create pods again, at least every minute")
}
