package job

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	core "github.com/stint-dev/stint/internal/job"
)

// refusals are failures to create pods, one after the other.
type refusals struct {
	n    int
	last time.Time
	// forGood: the last one said that there will be no pods any more.
	forGood bool
	// answer is what the server said, nil before it has said anything since a pod was made or ended. It is lost with
	// the controller: the next one measures anew.
	answer *core.CreateFailure
}

const (
	// firstRefusal and maxRefusal bound the pause after a refusal, which doubles with each further one.
	firstRefusal = time.Second
	maxRefusal   = time.Minute
)

// add takes in that not all pods could be made, but some were where some is set.
func (r *refusals) add(now time.Time, err error, some bool) {
	r.n, r.last = r.n+1, now
	r.forGood = apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
	if some {
		r.answer = nil
	}
	status := (*apierrors.StatusError)(nil)
	if !errors.As(err, &status) {
		return // The server was not reached, and has refused nothing.
	}
	since := now
	if r.answer != nil {
		since = r.answer.Since
	}
	r.answer = &core.CreateFailure{Since: since, Last: now, Message: status.Error()}
}

// ease makes the pause the shortest again: what was refused may be possible now.
func (r *refusals) ease() { r.n, r.answer = min(r.n, 1), nil }

// until is the end of the pause.
func (r *refusals) until() time.Time {
	if r.n == 0 {
		return time.Time{}
	}
	return r.last.Add(min(firstRefusal<<min(r.n-1, 10), maxRefusal))
}

// refused notes that the server did not make all pods for job, but some where some is set.
func (m *memory) refused(job types.UID, now time.Time, err error, some bool) {
	m.onRefusals(job, func(r *refusals) { r.add(now, err, some) })
}

// accepted notes that the server makes pods for job.
func (m *memory) accepted(job types.UID) { m.onRefusals(job, func(r *refusals) { *r = refusals{} }) }

// freed notes that what a pod of job took up is free again.
func (m *memory) freed(job types.UID) { m.onRefusals(job, (*refusals).ease) }

// observeRefusals tells until when the server is not asked for pods of the Job, and why.
func (m *memory) observeRefusals(obs *core.Observation) {
	m.onRefusals(obs.Job.UID, func(r *refusals) {
		obs.NextCreateAt, obs.NamespaceTerminating, obs.CreateFailure = r.until(), r.forGood, r.answer
	})
}

func (m *memory) onRefusals(job types.UID, do func(*refusals)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.jobs[job]; r != nil {
		do(&r.refusals)
	}
}
