package resultslice

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// resultsRetryDelay is how long no ResultSlice is sent to a server that has refused one.
const resultsRetryDelay = 15 * time.Second

// allNamespaces is the key for a refusal that concerns every namespace.
const allNamespaces = ""

// server remembers whether the API server accepts ResultSlices. Where it does not, results are dropped, so that Jobs
// complete all the same.
type server struct {
	clock clock.PassiveClock
	lost  prometheus.Counter

	mu sync.Mutex
	// retryAt is when to try again, by the namespace in which a ResultSlice was refused, or allNamespaces.
	retryAt map[string]time.Time
}

func newServer(c clock.PassiveClock, lost prometheus.Counter) *server {
	return &server{clock: c, lost: lost, retryAt: map[string]time.Time{}}
}

// try calls write, which stores n results, unless the server refused a ResultSlice a short while ago. It returns an error
// only if a retry may help; results that are refused count as lost.
func (s *server) try(ctx context.Context, namespace string, n int, write func() error) error {
	if s.refusing(namespace) {
		s.lost.Add(float64(n))
		return nil
	}
	err := write()
	switch {
	case err == nil:
		s.accepted(ctx, namespace)
	case isTerminatingNamespace(err):
		// The Job is deleted with its namespace, so its results are not lost.
	case isRefusal(err):
		s.lost.Add(float64(n))
		s.refused(ctx, namespace, err)
	default:
		return err
	}
	return nil
}

func (s *server) refusing(namespace string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	return now.Before(s.retryAt[namespace]) || now.Before(s.retryAt[allNamespaces])
}

// refused logs the first of several refusals.
func (s *server) refused(ctx context.Context, namespace string, err error) {
	if apierrors.IsNotFound(err) {
		namespace = allNamespaces // The CustomResourceDefinition is not installed.
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retryAt[namespace].IsZero() {
		klog.FromContext(ctx).Info("Results of Jobs are not stored, because the API server does not accept ResultSlices", "namespace", namespace,
			"reason", err.Error(), "remedy", "kubectl apply -f deploy/crds/stint.dev_resultslices.yaml, or --max-results=0")
	}
	s.retryAt[namespace] = s.clock.Now().Add(resultsRetryDelay)
}

func (s *server) accepted(ctx context.Context, namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.retryAt) == 0 {
		return
	}
	for _, n := range []string{namespace, allNamespaces} {
		if _, refused := s.retryAt[n]; refused {
			delete(s.retryAt, n)
			klog.FromContext(ctx).Info("Results of Jobs are stored again", "namespace", n)
		}
	}
}

// isTerminatingNamespace reports whether the namespace is terminating or deleted, so that nothing can be created in it.
func isTerminatingNamespace(err error) bool {
	status := apierrors.APIStatus(nil)
	if apierrors.IsNotFound(err) && errors.As(err, &status) {
		details := status.Status().Details
		return details != nil && details.Kind == "namespaces"
	}
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// isRefusal reports whether a retry does not help: the server does not know the kind, does not allow it, or knows
// another version of it.
func isRefusal(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) ||
		apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
}
