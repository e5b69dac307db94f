package explain

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

// controller is the controller that manages the Job.
type controller struct {
	job  *batchv1.Job
	name string
	// absent is set while no controller runs at all.
	absent bool
	// externalController is set where its rules are not known here.
	externalController bool
	// podless is set while no pod is active.
	podless bool
	// late is set where it has written nothing although the Job is not new.
	late bool
}

// unobservedAfter is how long a controller may take to act on a new Job.
const unobservedAfter = 5 * time.Second

func newController(a *job.Assessment, absent bool) controller {
	// The first thing that a controller writes is a start or a condition.
	s := &a.Job.Status
	untouched := s.StartTime == nil && len(s.Conditions) == 0 && len(a.Owned) == 0 && s.Succeeded+s.Failed == 0
	return controller{
		job: a.Job, name: job.ManagerOf(a.Job), absent: absent, externalController: a.ExternalController, podless: len(a.Active) == 0,
		late: untouched && a.Now.Sub(a.Job.CreationTimestamp.Time) >= unobservedAfter,
	}
}

func (c controller) hasUnknownMode() bool {
	return !job.IsKnownCompletionMode(c.job) && !c.externalController
}
func (c controller) isExternal() bool    { return c.externalController && c.podless }
func (c controller) isUnobserved() bool  { return c.late }
func (c controller) since() *metav1.Time { return createdAt(c.job) }

func (c controller) summaryUnknownMode() string {
	return fmt.Sprintf("has the completion mode %q, which no controller supports: no pods are created", job.ModeOf(c.job))
}

func (c controller) summaryExternal() string {
	return "has no pods; spec.managedBy names " + c.name + ", whose behaviour is not known here"
}

func (c controller) summaryUnobserved() string {
	return "no controller has acted on it since it was created"
}

// waits returns the wait for the controller, in the states of a Job in which that has to act.
func (c controller) waits(state stintv1.JobState) []stintv1.JobWait {
	w := stintv1.JobWait{For: stintv1.WaitForController, What: c.name}
	switch {
	case c.absent:
		w.Message = "no server runs on this data directory"
	case state == stintv1.JobNotSeen:
		w.Message, w.Since = "a Job controller to act on it: is one running?", c.since()
	case state == stintv1.JobUnknownPlan:
		w.Message = c.name + " to act"
	default:
		return nil
	}
	return []stintv1.JobWait{w}
}
