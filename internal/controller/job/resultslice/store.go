package resultslice

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/podstatus"
	"github.com/stint-dev/stint/internal/results"
)

// Client is what a Store asks of an API server.
type Client interface {
	Pods() client.Resource[*corev1.Pod]
	ResultSlices() client.Resource[*stintv1.ResultSlice]
}

// Options tune a Store.
type Options struct {
	// Max bounds the results that are kept of one Job, the newest; 0 keeps none.
	Max   int
	Clock clock.PassiveClock
	// Lost counts the results that the API server did not take.
	Lost prometheus.Counter
}

// Store keeps what came of the pods of Jobs. NoteEnd and Forget may be called at any time, the other methods by one
// sync of a Job at a time.
type Store struct {
	slices client.Resource[*stintv1.ResultSlice]
	pods   client.Resource[*corev1.Pod]
	shown  cache.SharedIndexInformer
	max    int
	limits results.Limits
	server *server

	mu   sync.Mutex
	jobs map[types.UID]*jobResults
}

// New makes a store on the informer of c's pods.
func New(c Client, o Options) *Store {
	limits := results.DefaultLimits()
	// A few slices make up what is kept, so that the oldest can go without many others.
	limits.Entries = max(1, min(limits.Entries, o.Max/4))
	return &Store{
		slices: c.ResultSlices(), pods: c.Pods(), shown: c.Pods().Informer(), max: o.Max, limits: limits,
		server: newServer(o.Clock, o.Lost), jobs: map[types.UID]*jobResults{},
	}
}

// Record stores what came of pods that are about to lose their finalizer, and the ends that were noted since the last
// time. These are lost if they cannot be stored: that is better than to keep a Job from its end.
func (s *Store) Record(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) error {
	if s.max <= 0 || job.DeletionTimestamp != nil {
		return nil // The results of a Job go with it.
	}
	r := s.of(job.UID)
	r.podEnds.await(pods)
	all, err := s.resultsOf(ctx, job, pods)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(append(all, r.podEnds.take()...), func(p stintv1.PodResult) bool { return r.written.Has(p.UID) })
	if len(all) == 0 {
		return nil
	}
	err = s.server.try(ctx, job.Namespace, len(all), func() error { return r.sequence.write(ctx, job, all) })
	if err != nil {
		return fmt.Errorf("storing what came of pods of Job %s/%s: %w", job.Namespace, job.Name, err)
	}
	r.observeWrite(all)
	return nil
}

// StartRecording is Record along with the status write, so that a round takes no longer. What it returns waits for the
// end of Record; stored says whether the status was written. The first results of a Job follow the status: from that the
// next controller knows that there are any.
func (s *Store) StartRecording(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) (wait func(stored bool) error) {
	if len(pods) == 0 || !s.of(job.UID).sequence.known {
		return func(stored bool) error {
			if !stored {
				return nil
			}
			return s.Record(ctx, job, pods)
		}
	}
	done := make(chan error, 1)
	go func() { done <- s.Record(ctx, job, pods) }()
	return func(bool) error { return <-done }
}

// Tidy follows once the recorded pods have lost their finalizers: what was stored of them need not be remembered, and
// the oldest results go where there are too many. A controller that starts before that must find all, or else it would
// store and count them twice; one that has nothing more to store looks for what another has left.
func (s *Store) Tidy(ctx context.Context, job *batchv1.Job) error {
	r := s.known(job.UID)
	if r == nil || s.max <= 0 {
		return nil
	}
	r.written = nil
	if r.sequence.size() <= s.max && (r.sequence.known || !endedBefore(job)) {
		return nil
	}
	return s.server.try(ctx, job.Namespace, 0, func() error { return r.sequence.makeRoom(ctx, job, s.max) })
}

// NoteEnd takes in what is known of a pod now. If it was recorded before it ended, the next Record stores how it did.
func (s *Store) NoteEnd(p *corev1.Pod) {
	ref := metav1.GetControllerOfNoCopy(p)
	if ref == nil || !podstatus.IsTerminated(p) {
		return
	}
	if r := s.known(ref.UID); r != nil {
		r.podEnds.note(p)
	}
}

// Forget drops what is known of a Job's results. They stay stored.
func (s *Store) Forget(job types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.jobs, job)
}

func (s *Store) of(job types.UID) *jobResults {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.jobs[job]
	if r == nil {
		r = &jobResults{sequence: sequence{client: s.slices, limits: s.limits}}
		s.jobs[job] = r
	}
	return r
}

// known is nil where no results of the Job were recorded.
func (s *Store) known(job types.UID) *jobResults {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs[job]
}
