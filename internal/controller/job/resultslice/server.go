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

// resultsRetryDelay is how long a server that takes no ResultSlices is not asked again.
const resultsRetryDelay = 15 * time.Second

// allNamespaces stands for all namespaces.
const allNamespaces = ""

// server knows whether the API server takes ResultSlices. Where it does not, Jobs go on without: they are worth more
// than what is remembered of them.
type server struct {
	clock clock.PassiveClock
	lost  prometheus.Counter

	mu sync.Mutex
	// nextSyncAt is until when asking is of no use, for each namespace in which it refused, or everywhere.
	nextSyncAt map[string]time.Time
}

func newServer(c clock.PassiveClock, lost prometheus.Counter) *server {
	return &server{clock: c, lost: lost, nextSyncAt: map[string]time.Time{}}
}

// try writes n results, unless that is of no use, and returns an error only where another try may go better.
func (s *server) try(ctx context.Context, namespace string, n int, write func() error) error {
	if s.refusing(namespace) {
		s.lost.Add(float64(n))
		return nil
	}
	err := write()
	switch {
	case err == nil:
		s.createSucceeded(ctx, namespace)
	case namespaceEnds(err):
		// So does the Job.
	case createFailureOf(err):
		s.lost.Add(float64(n))
		s.createFailed(ctx, namespace, err)
	default:
		return err
	}
	return nil
}

func (s *server) refusing(namespace string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	return now.Before(s.nextSyncAt[namespace]) || now.Before(s.nextSyncAt[allNamespaces])
}

// createFailed logs a refusal once, however often it is repeated.
func (s *server) createFailed(ctx context.Context, namespace string, err error) {
	if apierrors.IsNotFound(err) {
		namespace = allNamespaces // The kind is not known.
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nextSyncAt[namespace].IsZero() {
		klog.FromContext(ctx).Info("Results of Jobs are not kept, as the API server does not take them", "namespace", namespace,
			"reason", err.Error(), "remedy", "kubectl apply -f deploy/crds/stint.dev_resultslices.yaml, or --max-results=0")
	}
	s.nextSyncAt[namespace] = s.clock.Now().Add(resultsRetryDelay)
}

func (s *server) createSucceeded(ctx context.Context, namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.nextSyncAt) == 0 {
		return
	}
	for _, n := range []string{namespace, allNamespaces} {
		if _, refused := s.nextSyncAt[n]; refused {
			delete(s.nextSyncAt, n)
			klog.FromContext(ctx).Info("Results of Jobs are kept again", "namespace", n)
		}
	}
}

// namespaceEnds reports whether nothing can be made in the namespace any more.
func namespaceEnds(err error) bool {
	status := apierrors.APIStatus(nil)
	if apierrors.IsNotFound(err) && errors.As(err, &status) {
		details := status.Status().Details
		return details != nil && details.Kind == "namespaces"
	}
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// createFailureOf reports whether err is one that another try does not mend: the kind is not known, not allowed, or another version of it is.
func createFailureOf(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) ||
		apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
}
