package remote

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// pauses are those between the tries of one write; a try that fails at once makes less than a second of all.
func pauses() wait.Backoff {
	return wait.Backoff{Steps: 3, Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.5}
}

// persist repeats a write as long as nobody answers it, and notes that an earlier try may have been carried out.
// What the API server does answer is the caller's to judge; where that was "later", client-go has waited already.
func persist[T any](ctx context.Context, unsure *bool, write func() (T, error)) (T, error) {
	backoff := pauses()
	for {
		written, err := write()
		if err == nil || !unanswered(err) || backoff.Steps == 0 {
			return written, err
		}
		*unsure = true
		pause := time.NewTimer(backoff.Step())
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return written, err
		}
	}
}

// unanswered tells whether nobody knows what became of a request: the connection broke, or the API server says that it
// could not wait for the end.
func unanswered(err error) bool {
	if status := apierrors.APIStatus(nil); !errors.As(err, &status) {
		return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	}
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsServiceUnavailable(err)
}
