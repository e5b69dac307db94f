package remote

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
)

// retryPolicy is for how long, and after which errors, a request is repeated.
type retryPolicy struct {
	wait.Backoff
	again func(error) bool
}

var (
	// shortRetry takes less than a second, for what the caller can as well do again.
	shortRetry = retryPolicy{wait.Backoff{Steps: 3, Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.5}, outcomeUnknown}
	// longRetry takes some eight seconds, for what may be done twice if the caller does it again.
	longRetry = retryPolicy{wait.Backoff{Steps: 5, Duration: 250 * time.Millisecond, Factor: 2, Jitter: 0.2}, isRetriable}
)

// retry repeats a request and tells whether an earlier try may have been carried out. Where the API server said when
// to come back, client-go has done so already.
func retry[T any](ctx context.Context, p retryPolicy, do func() (T, error)) (got T, unsure bool, err error) {
	for {
		got, err = do()
		if err == nil || !p.again(err) || p.Steps == 0 {
			return got, unsure, err
		}
		// Where there was no connection there was no request.
		unsure = unsure || !utilnet.IsConnectionRefused(err)
		pause := time.NewTimer(p.Step())
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return got, unsure, err
		}
	}
}

// outcomeUnknown tells whether nobody knows what became of a request: the connection broke, no answer came in time, or the
// API server says that it could not wait for the end. An error that says when to come back has been waited for by
// client-go, many times.
func outcomeUnknown(err error) bool {
	if status := apierrors.APIStatus(nil); !errors.As(err, &status) {
		return true
	}
	_, waited := apierrors.SuggestsClientDelay(err)
	return !waited && (apierrors.IsTimeout(err) || apierrors.IsServiceUnavailable(err))
}

// isRetriable tells whether a request may be carried out yet if it is repeated.
func isRetriable(err error) bool {
	status := apierrors.APIStatus(nil)
	return err != nil && (outcomeUnknown(err) || apierrors.IsTooManyRequests(err) ||
		errors.As(err, &status) && status.Status().Code >= http.StatusInternalServerError)
}
