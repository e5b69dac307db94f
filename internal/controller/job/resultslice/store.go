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

// Client is the part of the API that a Store uses.
type Client interface {
	Pods() client.Resource[*corev1.Pod]
	ResultSlices() client.Resource[*stintv1.ResultSlice]
}

// Options tune a Store.
type Options struct {
	// Max is how many results are kept of one Job, the newest ones; 0 keeps none.
	Max   int
	Clock clock.PassiveClock
	// Lost counts the results that the API server did not accept.
	Lost prometheus.Counter
}

// Store stores the results of the pods of all Jobs. NoteEnd and Forget may be called at any time; the other methods may
// not be called concurrently for the same Job.
type Store struct {
	slices     client.Resource[*stintv1.ResultSlice]
	cachedPods cache.SharedIndexInformer
	max        int
	limits     results.Limits
	server     *server

	mu   sync.Mutex
	jobs map[types.UID]*jobResults
}

// New returns a Store that reads pods from c's informer and writes ResultSlices to c.
func New(c Client, o Options) *Store {
	limits := results.DefaultLimits()
	// The results that are kept fill several slices, so that the oldest results can be deleted without the others.
	limits.Entries = max(1, min(limits.Entries, o.Max/4))
	return &Store{
		slices: c.ResultSlices(), cachedPods: c.Pods().Informer(), max: o.Max, limits: limits,
		server: newServer(o.Clock, o.Lost), jobs: map[types.UID]*jobResults{},
	}
}

// Record stores the results of pods that are about to lose their finalizer, and the ends that were noted since the last
// Record. Noted ends are lost if the write fails: a Job does not wait for them.
func (s *Store) Record(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) error {
	if s.max <= 0 || job.DeletionTimestamp != nil {
		return nil // The results of a Job are deleted with it.
	}
	r := s.of(job.UID)
	r.podEnds.await(pods)
	all := slices.DeleteFunc(append(s.resultsOf(pods), r.podEnds.take()...), func(p stintv1.PodResult) bool { return r.written.Has(p.UID) })
	if len(all) == 0 {
		return nil
	}
	err := s.server.try(ctx, job.Namespace, len(all), func() error { return r.sequence.write(ctx, job, all) })
	if err != nil {
		return fmt.Errorf("storing the results of pods of Job %s/%s: %w", job.Namespace, job.Name, err)
	}
	r.observeWrite(all)
	return nil
}

// StartRecording runs Record while the caller writes the status, so that a sync takes no longer. The caller then calls
// wait, which waits for Record; stored says whether the status was written. The first results of a Job are stored only
// after the status: a controller that starts later looks for results only if the status lists or counts a pod.
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

// Prune deletes the oldest results beyond Options.Max and forgets which pods are stored. It runs after the finalizers of
// the recorded pods are removed. Until then a restarted controller must find every stored result, or it stores it twice.
// Prune also deletes results that an earlier controller stored and had no time to delete.
func (s *Store) Prune(ctx context.Context, job *batchv1.Job) error {
	r := s.known(job.UID)
	if r == nil || s.max <= 0 {
		return nil
	}
	r.written = nil
	if r.sequence.size() <= s.max && (r.sequence.known || !mayHaveResults(job)) {
		return nil
	}
	return s.server.try(ctx, job.Namespace, 0, func() error { return r.sequence.deleteOldest(ctx, job, s.max) })
}

// NoteEnd must be called with every version of a pod that is observed. If the pod was recorded before it terminated, the
// next Record stores its result again.
func (s *Store) NoteEnd(p *corev1.Pod) {
	ref := metav1.GetControllerOfNoCopy(p)
	if ref == nil || !podstatus.IsTerminated(p) {
		return
	}
	if r := s.known(ref.UID); r != nil {
		r.podEnds.note(p)
	}
}

// Forget drops the state that is kept of a Job. Its results stay stored.
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

// known returns nil if Record was never called for the Job.
func (s *Store) known(job types.UID) *jobResults {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs[job]
}
