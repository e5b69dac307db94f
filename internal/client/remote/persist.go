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

// retryPolicy decides how often, after what delays and after which errors a request is repeated.
type retryPolicy struct {
	wait.Backoff
	again func(error) bool
}

var (
	// shortRetry lasts about a second. It is for requests that the caller may simply repeat later.
	shortRetry = retryPolicy{wait.Backoff{Steps: 3, Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.5}, outcomeUnknown}
	// longRetry lasts about eight seconds. It is for requests that might be carried out twice if the caller repeated them.
	longRetry = retryPolicy{wait.Backoff{Steps: 5, Duration: 250 * time.Millisecond, Factor: 2, Jitter: 0.2}, isRetriable}
)

// retry repeats a request as p says. unsure reports whether an earlier try may have been carried out. client-go itself
// repeats requests that the API server refuses with Retry-After, before do returns.
func retry[T any](ctx context.Context, p retryPolicy, do func() (T, error)) (got T, unsure bool, err error) {
	for {
		got, err = do()
		if err == nil || !p.again(err) || p.Steps == 0 {
			return got, unsure, err
		}
		// Without a connection no request was sent.
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

// outcomeUnknown reports whether a failed request may have been carried out: the connection broke, no response came in
// time, or the API server stopped waiting for the result. Errors with Retry-After do not count: client-go has already
// repeated these requests many times.
func outcomeUnknown(err error) bool {
	if status := apierrors.APIStatus(nil); !errors.As(err, &status) {
		return true
	}
	_, waited := apierrors.SuggestsClientDelay(err)
	return !waited && (apierrors.IsTimeout(err) || apierrors.IsServiceUnavailable(err))
}

// isRetriable reports whether a failed request may succeed if it is repeated.
func isRetriable(err error) bool {
	status := apierrors.APIStatus(nil)
	return err != nil && (outcomeUnknown(err) || apierrors.IsTooManyRequests(err) ||
		errors.As(err, &status) && status.Status().Code >= http.StatusInternalServerError)
}
