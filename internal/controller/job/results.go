package job

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/results"
)

// DefaultMaxResults is Options.MaxResults where that is nil.
const DefaultMaxResults = 100_000

// resultKeeper writes what came of pods into ResultSlices.
type resultKeeper struct {
	slices client.Resource[*stintv1.ResultSlice]
	// max bounds the results that are kept of one Job.
	max    int
	limits results.Limits
	server *sliceServer

	mu   sync.Mutex
	jobs map[types.UID]*kept
}

// kept is what is known of one Job's results. But for the fields of ends, it is for the sync of that Job alone.
type kept struct {
	// slice is the one that results are added to; nil if the next result begins one.
	slice *stintv1.ResultSlice
	// earlier are the slices before it, oldest first.
	earlier []sliceRef
	// next is how many results were written before those of the next slice.
	next int64
	// known tells that earlier and next are.
	known bool
	// written are pods whose end is written and that may not have been let go yet: it is not written again.
	written sets.Set[types.UID]
	ends
}

// ends are those of pods that were counted before they ended: resultKeeper.mu guards them.
type ends struct {
	awaited sets.Set[types.UID]
	seen    []stintv1.PodResult
}

func newResultKeeper(slices client.Resource[*stintv1.ResultSlice], o Options, lost prometheus.Counter) *resultKeeper {
	limits := results.DefaultLimits()
	n := *o.MaxResults
	// A few slices make up what is kept, so that the oldest can go without many others.
	limits.Entries = max(1, min(limits.Entries, n/4))
	return &resultKeeper{
		slices: slices, max: n, limits: limits, server: newSliceServer(o, lost), jobs: map[types.UID]*kept{},
	}
}

// recordResults keeps what came of pods that are about to lose their finalizer, and may then go.
func (c *Controller) recordResults(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) error {
	r := c.results
	if r.max <= 0 || job.DeletionTimestamp != nil {
		return nil // The results of a Job go with it.
	}
	k := r.of(job.UID)
	r.await(k, pods)
	var all []stintv1.PodResult
	counted := sets.New(core.Listed(job)...)
	for _, p := range pods {
		newest, err := c.newestOf(ctx, p, counted.Has(p.UID))
		if err != nil {
			return err
		}
		all = append(all, results.Of(newest))
	}
	all = slices.DeleteFunc(append(all, r.takeEnds(k)...), func(p stintv1.PodResult) bool { return k.written.Has(p.UID) })
	if len(all) == 0 {
		return nil
	}
	if err := r.server.interpret(ctx, job.Namespace, len(all), func() error { return r.write(ctx, job, k, all) }); err != nil {
		return fmt.Errorf("storing what came of pods of Job %s/%s: %w", job.Namespace, job.Name, err)
	}
	k.wrote(all)
	return nil
}

// recording keeps what came of pods along with the status write, so that a round takes no longer. What it returns waits
// for it; stored tells whether the status is. The first results of a Job follow the status: from it the next controller
// knows that there are any.
func (c *Controller) recording(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) (wait func(stored bool) error) {
	if len(pods) == 0 || !c.results.of(job.UID).known {
		return func(stored bool) error {
			if !stored {
				return nil
			}
			return c.recordResults(ctx, job, pods)
		}
	}
	done := make(chan error, 1)
	go func() { done <- c.recordResults(ctx, job, pods) }()
	return func(bool) error { return <-done }
}

// tidyResults comes once pods are let go: what was written of them need not be remembered, and the oldest results go
// where there are too many. A controller that begins anew before that must find all, else it is written and counted twice;
// one that has nothing more to write looks for what another has left.
func (c *Controller) tidyResults(ctx context.Context, job *batchv1.Job) error {
	r := c.results
	k := r.peek(job.UID)
	if k == nil || r.max <= 0 {
		return nil
	}
	k.written = nil
	if k.size() <= r.max && (k.known || !endedBefore(job)) {
		return nil
	}
	return r.server.interpret(ctx, job.Namespace, 0, func() error { return r.makeRoom(ctx, job, k) })
}

// newestOf returns the newer version of a pod that ended after the decision. One that the status counted before it may have
// ended before an earlier controller's eyes: the server knows. What the informer shows later is noted.
func (c *Controller) newestOf(ctx context.Context, p *corev1.Pod, counted bool) (*corev1.Pod, error) {
	if core.Ended(p) {
		return p, nil
	}
	newest := loop.Shown[*corev1.Pod](c.pods, loop.Key(p))
	if counted && (newest == nil || !core.Ended(newest)) {
		var err error
		if newest, err = c.storedPod(ctx, p); err != nil {
			return nil, fmt.Errorf("asking how pod %s/%s ended: %w", p.Namespace, p.Name, err)
		}
	}
	if newest == nil || newest.UID != p.UID {
		return p, nil
	}
	return newest, nil
}

func (r *resultKeeper) of(job types.UID) *kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.jobs[job]
	if k == nil {
		k = &kept{}
		r.jobs[job] = k
	}
	return k
}

// peek is nil where nothing was kept of the Job.
func (r *resultKeeper) peek(job types.UID) *kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.jobs[job]
}

func (r *resultKeeper) forget(job types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.jobs, job)
}

// await notes which pods were counted before they ended: their results are to be written again.
func (r *resultKeeper) await(k *kept, pods []*corev1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range pods {
		if core.Ended(p) {
			continue
		}
		if k.awaited == nil {
			k.awaited = sets.New[types.UID]()
		}
		k.awaited.Insert(p.UID)
	}
}

// noteEnd takes in what is known of a pod now. The sync that follows writes it.
func (r *resultKeeper) noteEnd(p *corev1.Pod) {
	ref := jobRef(p)
	if ref == nil || !core.Ended(p) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.jobs[ref.UID]; k != nil && k.awaited.Has(p.UID) {
		k.awaited.Delete(p.UID)
		k.seen = append(k.seen, results.Of(p))
	}
}

// wrote notes the pods of which it is known when they ended: of others there may be more to tell.
func (k *kept) wrote(all []stintv1.PodResult) {
	for i := range all {
		if all[i].FinishedAt == nil {
			continue
		}
		if k.written == nil {
			k.written = sets.New[types.UID]()
		}
		k.written.Insert(all[i].UID)
	}
}

// takeEnds returns the ends that were seen since the last time. They are lost if they cannot be written: that is better
// than to keep a Job from its end.
func (r *resultKeeper) takeEnds(k *kept) []stintv1.PodResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := k.seen
	k.seen = nil
	return seen
}
