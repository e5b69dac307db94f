package images

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/image/store"
)

// The reasons of containers that wait for their image.
const (
	ReasonCreating = "ContainerCreating"
	ReasonInvalid  = "InvalidImageName"
	ReasonNever    = "ErrImageNeverPull"
	ReasonFailed   = "ErrImagePull"
	ReasonBackOff  = "ImagePullBackOff"
	ReasonInspect  = "ImageInspectError"
)

// The delays after failures in a row: the first, the longest, and after how long without one they are forgotten.
const (
	firstDelay     = 10 * time.Second
	maxDelay       = 5 * time.Minute
	forgetFailures = 2 * maxDelay
)

// Request asks for the image of a container.
type Request struct {
	Pod    types.UID
	Image  string
	Policy corev1.PullPolicy
	// Since is when the container was to be started first: with the policy Always its image is pulled after that.
	Since time.Time
}

// Waiting is why a container has no image yet.
type Waiting struct {
	Reason, Message string
	// RetryAt is when to ask again, unless the pod is woken before.
	RetryAt time.Time
}

func (w *Waiting) Error() string { return w.Message }

// Image is an image that is on this machine.
type Image struct {
	store.Image
	Tree   string
	Config v1.Config

	repository string
}

// Manager brings images. It is safe for concurrent use.
type Manager struct {
	store *store.Store
	// wake is called for each pod that has waited for a pull, when that is over.
	wake func(types.UID)
	// tell is called when a pull begins and ends.
	tell func(pod types.UID, event Event)

	mu    sync.Mutex
	pulls map[string]*pull
	// known are those that were found in the store as of version.
	known   map[string]*Image
	version [2]int64
}

// Event is something to tell of a pod's image. Failure is nil where the pull begins or has succeeded.
type Event struct {
	Image   string
	Begins  bool
	Took    time.Duration
	Size    int64
	Failure error
}

// pull is what is known of the pulls of one image.
type pull struct {
	running bool
	// succeeded is when the last one began that has succeeded.
	succeeded time.Time
	// waiting are the pods that wait for the one that runs, untold those that have not heard how the last one failed.
	waiting, untold map[types.UID]bool
	// failures in a row, the last one at failedAt.
	failures int
	failedAt time.Time
	failure  error
}

// New makes a manager of the images in s.
func New(s *store.Store, wake func(types.UID), tell func(types.UID, Event)) *Manager {
	return &Manager{store: s, wake: wake, tell: tell, pulls: map[string]*pull{}, known: map[string]*Image{}}
}

// Get returns the image, or a *Waiting. It never waits itself: a pull goes on until ctx ends.
func (m *Manager) Get(ctx context.Context, r Request) (*Image, error) {
	ref, err := registry.Parse(r.Image)
	if err != nil {
		return nil, &Waiting{Reason: ReasonInvalid, Message: fmt.Sprintf("Failed to apply default image tag %q: %v", r.Image, err), RetryAt: time.Now().Add(maxDelay)}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.pulls[ref.String()]
	fresh := p != nil && !p.succeeded.Before(r.Since)
	if r.Policy != corev1.PullAlways || fresh {
		image, err := m.find(ref)
		if image != nil || err != nil {
			return image, err
		}
	}
	if r.Policy == corev1.PullNever {
		return nil, &Waiting{Reason: ReasonNever, RetryAt: time.Now().Add(firstDelay),
			Message: fmt.Sprintf("Container image %q is not present with pull policy of Never: stint image load or pull it", r.Image)}
	}
	if p == nil {
		p = &pull{waiting: map[types.UID]bool{}}
		m.pulls[ref.String()] = p
	}
	return nil, m.await(ctx, p, ref, r)
}

// await has a pull running, unless it is too early after one that failed. The caller holds m.mu.
func (m *Manager) await(ctx context.Context, p *pull, ref registry.Reference, r Request) *Waiting {
	if next := p.failedAt.Add(delay(p.failures)); !p.running && p.failures > 0 && time.Now().Before(next) {
		w := &Waiting{Reason: ReasonBackOff, RetryAt: next,
			Message: fmt.Sprintf("Back-off pulling image %q: %v", r.Image, p.failure)}
		if p.untold[r.Pod] {
			w.Reason, w.Message = ReasonFailed, p.failure.Error()
			delete(p.untold, r.Pod)
		}
		return w
	}
	p.waiting[r.Pod] = true
	if !p.running {
		p.running = true
		m.tell(r.Pod, Event{Image: r.Image, Begins: true})
		go m.pull(ctx, p, ref, r)
	}
	return &Waiting{Reason: ReasonCreating, Message: fmt.Sprintf("pulling image %q", r.Image), RetryAt: time.Now().Add(maxDelay)}
}

// delay is how long to wait after so many failures in a row.
func delay(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	return min(firstDelay<<min(failures-1, 10), maxDelay)
}

func (m *Manager) pull(ctx context.Context, p *pull, ref registry.Reference, r Request) {
	began := time.Now()
	image, err := m.fetch(ctx, ref)
	if ctx.Err() != nil {
		return
	}
	m.tell(r.Pod, Event{Image: r.Image, Took: time.Since(began), Size: image.Size, Failure: err})
	m.mu.Lock()
	waiting := p.end(began, err)
	m.mu.Unlock()
	for pod := range waiting {
		m.wake(pod)
	}
}

// end notes how a pull has ended, and returns the pods that have waited for it.
func (p *pull) end(began time.Time, err error) map[types.UID]bool {
	waiting := p.waiting
	p.running, p.waiting, p.untold = false, map[types.UID]bool{}, nil
	if err == nil {
		p.succeeded, p.failures, p.failure = began, 0, nil
		return waiting
	}
	if time.Since(p.failedAt) > forgetFailures {
		p.failures = 0
	}
	p.failures++
	p.failure, p.failedAt, p.untold = err, time.Now(), maps.Clone(waiting)
	return waiting
}

func (m *Manager) fetch(ctx context.Context, ref registry.Reference) (store.Image, error) {
	from, err := registry.Image(ctx, ref)
	if err != nil {
		return store.Image{}, err
	}
	image, err := m.store.Add(ctx, ref.String(), from, nil)
	if err != nil {
		return image, fmt.Errorf("pull %s: %w", ref, err)
	}
	return image, nil
}

// find looks for an image on this machine. The caller holds m.mu.
func (m *Manager) find(ref registry.Reference) (*Image, error) {
	name := ref.String()
	if version := m.store.Version(); version != m.version {
		m.version = version
		clear(m.known)
	}
	if image := m.known[name]; image != nil {
		return image, nil
	}
	stored, ok, err := m.store.Get(name)
	if err != nil || !ok {
		return nil, inspected(name, err)
	}
	config, err := m.store.Config(stored)
	if err != nil {
		return nil, inspected(name, err)
	}
	image := &Image{Image: stored, Tree: m.store.Tree(stored), Config: config.Config, repository: ref.Repository()}
	m.known[name] = image
	return image, nil
}

func inspected(name string, err error) error {
	if err == nil {
		return nil
	}
	return &Waiting{Reason: ReasonInspect, Message: fmt.Sprintf("Failed to inspect image %q: %v", name, err), RetryAt: time.Now().Add(firstDelay)}
}
