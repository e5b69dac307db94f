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

// refusedPause is how long a server that takes no ResultSlices is not asked again.
const refusedPause = 15 * time.Second

// everywhere stands for all namespaces.
const everywhere = ""

// server knows whether the API server takes ResultSlices. Where it does not, Jobs go on without: they are worth more
// than what is remembered of them.
type server struct {
	clock clock.PassiveClock
	lost  prometheus.Counter

	mu sync.Mutex
	// notBefore is until when asking is of no use, for each namespace in which it refused, or everywhere.
	notBefore map[string]time.Time
}

func newServer(c clock.PassiveClock, lost prometheus.Counter) *server {
	return &server{clock: c, lost: lost, notBefore: map[string]time.Time{}}
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
		s.accepted(ctx, namespace)
	case namespaceEnds(err):
		// So does the Job.
	case refusal(err):
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
	return now.Before(s.notBefore[namespace]) || now.Before(s.notBefore[everywhere])
}

// refused logs a refusal once, however often it is repeated.
func (s *server) refused(ctx context.Context, namespace string, err error) {
	if apierrors.IsNotFound(err) {
		namespace = everywhere // The kind is not known.
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.notBefore[namespace].IsZero() {
		klog.FromContext(ctx).Info("Results of Jobs are not kept, as the API server does not take them", "namespace", namespace,
			"reason", err.Error(), "remedy", "kubectl apply -f deploy/crds/stint.dev_resultslices.yaml, or --max-results=0")
	}
	s.notBefore[namespace] = s.clock.Now().Add(refusedPause)
}

func (s *server) accepted(ctx context.Context, namespace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.notBefore) == 0 {
		return
	}
	for _, n := range []string{namespace, everywhere} {
		if _, refused := s.notBefore[n]; refused {
			delete(s.notBefore, n)
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

// refusal reports whether err is one that another try does not mend: the kind is not known, not allowed, or another version of it is.
func refusal(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) ||
		apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err)
}
