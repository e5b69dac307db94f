package run

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/output"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// tracked is a Job of this run as it was last seen.
type tracked struct {
	job   *batchv1.Job
	ref   output.Job
	order int
	how   output.How
	meter meter
	waits *waits
	// gone: the Job was deleted, and unseen: what job tells may be older than that. ended: it is gone or has a terminal
	// condition, and is being concluded.
	gone   bool
	unseen bool
	ended  bool
	// failure is how the newest failed pod failed; retryAt is when the next pod comes, where that is known.
	failure string
	retryAt time.Time
	// outcome is set when the conclusion is written.
	outcome output.Outcome
	// updated since the loop last looked.
	updated bool
}

// track adds a Job to the run.
func (s *session) track(job *batchv1.Job, how output.How, order int) {
	ref := output.Job{Namespace: job.Namespace, Name: job.Name}
	s.out.Start(ref, how)
	if ptr.Deref(job.Spec.Suspend, false) && !jobcore.IsHeld(job) {
		s.out.Note("job " + ref.Name + " is suspended and waits for: " + s.caller.Command(ref.Namespace, "resume", ref.Name))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[job.UID] = &tracked{job: job, ref: ref, order: order, how: how, waits: newWaits(), updated: true}
}

// fate is what has become of an object.
type fate int

const (
	there fate = iota
	// deleted: what is known is how it was then.
	deleted
	// vanished: it was deleted while nobody watched.
	vanished
)

// seen takes in a new state of a Job, of this run or not.
func (s *session) seen(job *batchv1.Job, now fate) {
	s.mu.Lock()
	t, ours := s.jobs[job.UID]
	if ours && (now != there || job.Status.Active < t.job.Status.Active) {
		s.wentAt = time.Now()
	}
	if ours && !t.gone {
		t.job, t.gone, t.unseen, t.updated = job, now != there, now == vanished, true
	}
	s.mu.Unlock()
	if ours {
		s.wake()
	}
}

func (s *session) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// progress is what the output is told about a Job. The caller holds the lock.
func (t *tracked) progress(now time.Time) output.Progress {
	status := t.job.Status
	t.meter.add(now, status.Succeeded)
	p := output.Progress{Job: t.ref, Order: t.order, At: now, Active: status.Active, Succeeded: status.Succeeded, Failed: status.Failed,
		Retries: ptr.Deref(jobcore.FailureLimit(t.job), 0), RetryAt: t.retryAt, Failure: t.failure,
		WaitsFor: awaitedBy(t.job), Wanted: wanted(t.job), Suspended: t.job.Spec.Suspend != nil && *t.job.Spec.Suspend, Rate: t.meter.rate()}
	if p.Wanted > 0 {
		p.Left = t.meter.left(p.Wanted - p.Succeeded)
	}
	return p
}

// took is how long the Job ran.
func took(job *batchv1.Job) time.Duration {
	if job.Status.StartTime == nil {
		return 0
	}
	if job.Status.CompletionTime != nil {
		return job.Status.CompletionTime.Sub(job.Status.StartTime.Time)
	}
	if c := jobcore.End(job); c != nil {
		return c.LastTransitionTime.Sub(job.Status.StartTime.Time)
	}
	return 0
}
