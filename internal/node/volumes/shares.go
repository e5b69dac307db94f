package volumes

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// sharePatience is how long a start waits until a volume belongs to its group. That is enough for a volume of some thousand files.
const sharePatience = 100 * time.Millisecond

// SharingError says that a volume is still being given to the pod's fsGroup. The pod is woken when that is done.
type SharingError struct{}

func (SharingError) Error() string {
	return "the files of the volume are being given to the pod's fsGroup; with fsGroupChangePolicy OnRootMismatch that is done only once"
}

// Shares gives volumes to the fsGroups of pods in the background, as a claim may have millions of files. No worker waits for that, and
// a pod can end meanwhile.
type Shares struct {
	// wake is called with a pod when it need not wait any longer.
	wake func(types.UID)

	mu sync.Mutex
	// running are by pod and volume. Those that have ended stay until their result is taken.
	running map[types.UID]map[string]*sharing
	all     sync.WaitGroup
}

// sharing is one volume that is given to a group. Err is its result, once done is closed.
type sharing struct {
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

// NewShares makes Shares that wake pods in this way.
func NewShares(wake func(types.UID)) *Shares {
	return &Shares{wake: wake, running: map[types.UID]map[string]*sharing{}}
}

// share returns the result of give for a volume of the pod, or a SharingError while that runs. It runs until ctx ends, or End.
func (s *Shares) share(ctx context.Context, pod types.UID, volume string, give func(context.Context) error) error {
	r := s.get(ctx, pod, volume, give)
	patience := time.NewTimer(sharePatience)
	defer patience.Stop()
	select {
	case <-r.done:
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.running[pod], volume)
		return r.err
	case <-patience.C:
		return SharingError{}
	}
}

// get returns the sharing of a volume, which begins unless it has before.
func (s *Shares) get(ctx context.Context, pod types.UID, volume string, give func(context.Context) error) *sharing {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.running[pod][volume]; r != nil {
		return r
	}
	if s.running[pod] == nil {
		s.running[pod] = map[string]*sharing{}
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &sharing{cancel: cancel, done: make(chan struct{})}
	s.running[pod][volume] = r
	s.all.Go(func() {
		defer cancel()
		r.err = give(ctx)
		close(r.done)
		s.wake(pod)
	})
	return r
}

// End ends what runs for a pod that has ended. When it returns, no volume is changed for the pod any more.
func (s *Shares) End(pod types.UID) {
	s.mu.Lock()
	ended := s.running[pod]
	delete(s.running, pod)
	s.mu.Unlock()
	for _, r := range ended {
		r.cancel()
		<-r.done
	}
}

// Wait returns when nothing runs any more, after the contexts of all pods have ended.
func (s *Shares) Wait() { s.all.Wait() }
