package job

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	core "github.com/stint-dev/stint/internal/job"
)

// createBackoff counts failures to create pods since the last success, and delays the next try.
type createBackoff struct {
	n    int
	last time.Time
	// namespaceTerminating means that the last failure was for the deletion of the namespace: no pod can be created
	// in it.
	namespaceTerminating bool
	// lastFailure is what the server has answered; nil if it has refused no pod since one was created or terminated.
	// It is lost with the controller, and the next one starts without it.
	lastFailure *core.CreateFailure
}

const (
	// minCreateBackoff and maxCreateBackoff bound the delay after a failure. It doubles with each further one.
	minCreateBackoff = time.Second
	maxCreateBackoff = time.Minute
)

// add records that not all pods were created. Some means that some were.
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

// resetDelay makes the delay the shortest again: what the server refused may be possible now.
func (r *createBackoff) resetDelay() { r.n, r.lastFailure = min(r.n, 1), nil }

// until returns when the next pods may be created; zero is at once.
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
