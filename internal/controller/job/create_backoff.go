package job

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	core "github.com/stint-dev/stint/internal/job"
)

// createBackoff are failures to create pods, one after the other.
type createBackoff struct {
	n    int
	last time.Time
	// namespaceTerminating: the last one said that there will be no pods any more.
	namespaceTerminating bool
	// lastFailure is what the server said, nil before it has said anything since a pod was made or ended. It is lost with
	// the controller: the next one measures anew.
	lastFailure *core.CreateFailure
}

const (
	// minCreateBackoff and maxCreateBackoff bound the pause after a refusal, which doubles with each further one.
	minCreateBackoff = time.Second
	maxCreateBackoff = time.Minute
)

// add takes in that not all pods could be made, but some were where some is set.
func (r *createBackoff) add(now time.Time, err error, some bool) {
	r.n, r.last = r.n+1, now
	r.namespaceTerminating = apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
	if some {
		r.lastFailure = nil
	}
	status := (*apierrors.StatusError)(nil)
	if !errors.As(err, &status) {
		return // The server was not reached, and has refused nothing.
	}
	since := now
	if r.lastFailure != nil {
		since = r.lastFailure.Since
	}
	r.lastFailure = &core.CreateFailure{Since: since, Last: now, Message: status.Error()}
}

// resetDelay makes the pause the shortest again: what was refused may be possible now.
func (r *createBackoff) resetDelay() { r.n, r.lastFailure = min(r.n, 1), nil }

// until is the end of the pause.
func (r *createBackoff) until() time.Time {
	if r.n == 0 {
		return time.Time{}
	}
	return r.last.Add(min(minCreateBackoff<<min(r.n-1, 10), maxCreateBackoff))
}

// observe fills in until when no pods of the Job are created, and why.
func (r *createBackoff) observe(obs *core.Observation) {
	obs.NextCreateAt, obs.NamespaceTerminating, obs.CreateFailure = r.until(), r.namespaceTerminating, r.lastFailure
}
