package images

import (
	"context"
	"fmt"
	"sync"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/image/registry/credentials"
	"github.com/stint-dev/stint/internal/image/store"
)

// The waiting reasons of containers that have no image yet.
const (
	ReasonCreating    = "ContainerCreating"
	ReasonInvalid     = "InvalidImageName"
	ReasonNever       = "ErrImageNeverPull"
	ReasonFailed      = "ErrImagePull"
	ReasonBackOff     = "ImagePullBackOff"
	ReasonInspect     = "ImageInspectError"
	ReasonUnavailable = "RegistryUnavailable"
)

// The backoff after failures in a row: the first delay, the longest, and after how long without a failure it starts
// anew.
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
	// Since is when this start was first tried. With the policy Always, the image must have been pulled after that.
	Since time.Time
	// Secrets are the pod's pull secrets, which are tried before the user's logins; nil is none.
	Secrets *credentials.Keyring
}

// Waiting is why a container has no image yet.
type Waiting struct {
	Reason, Message string
	// RetryAt is when to ask again, unless the pod is woken before that.
	RetryAt time.Time
}

func (w *Waiting) Error() string { return w.Message }

// Image is an image that is on this machine.
type Image struct {
	store.Image
	Tree   string
	Config v1.Config

	repository string
	users      userCache
	// touchedAt is when the last use of the image was last stored.
	touchedAt time.Time
}

// touchEvery bounds how often the last use of an image is stored: hundreds of containers may start in a second.
const touchEvery = time.Minute

// Manager finds and pulls images. It is safe for concurrent use.
type Manager struct {
	client *registry.Client
	store  *store.Store
	// wake is called for each pod that has waited for a pull when the pull ends.
	wake func(types.UID)
	// record is called when a pull begins and when it ends, for one of the pods that wait for it.
	record func(pod types.UID, event Event)

	mu    sync.Mutex
	pulls map[key]*pullState
	turns turns
	// known caches the images that were found in the store at version.
	known   map[string]*Image
	version [2]int64
}

// Event is the begin or the end of a pull. Failure is nil if the pull begins or has succeeded.
type Event struct {
	Image   string
	Begins  bool
	Took    time.Duration
	Size    int64
	Failure error
}

// key identifies a pull. Pods with different secrets do not share one, as they may have different rights.
type key struct{ image, secrets string }

// New makes a manager that pulls images with c into s.
func New(c *registry.Client, s *store.Store, wake func(types.UID), tell func(types.UID, Event)) *Manager {
	return &Manager{client: c, store: s, wake: wake, record: tell, pulls: map[key]*pullState{}, known: map[string]*Image{}}
}

// Get returns the image, or a *Waiting. It does not block: a pull runs in the background until ctx ends, or until no pod waits for it.
func (m *Manager) Get(ctx context.Context, r Request) (*Image, error) {
	ref, err := registry.Parse(r.Image)
	if err != nil {
		return nil, &Waiting{Reason: ReasonInvalid, Message: fmt.Sprintf("Failed to apply default image tag %q: %v", r.Image, err), RetryAt: now().Add(maxDelay)}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k := key{ref.String(), r.Secrets.Fingerprint()}
	p := m.pulls[k]
	fresh := p != nil && !p.succeeded.Before(r.Since)
	if r.Policy != corev1.PullAlways || fresh {
		image, err := m.find(ref)
		if image != nil {
			m.touch(image)
		}
		if image != nil || err != nil {
			return image, err
		}
	}
	if r.Policy == corev1.PullNever {
		return nil, &Waiting{Reason: ReasonNever, RetryAt: now().Add(firstDelay),
			Message: fmt.Sprintf("Container image %q is not present with pull policy of Never: stint image load or pull it", r.Image)}
	}
	return nil, m.waitForPull(ctx, k, ref, r)
}

// find returns the image if it is stored on this machine, else nil. The caller holds m.mu.
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
		return nil, inspectError(name, err)
	}
	config, err := m.store.Config(stored)
	if err != nil {
		return nil, inspectError(name, err)
	}
	image := &Image{Image: stored, Tree: m.store.Tree(stored), Config: config.Config, repository: ref.Name()}
	m.known[name] = image
	return image, nil
}

// touch stores that the image is used now. If that fails, the image only seems to have been unused for longer.
func (m *Manager) touch(image *Image) {
	if t := time.Now(); t.Sub(image.touchedAt) >= touchEvery {
		image.touchedAt = t
		_ = m.store.Touch(image.Image)
	}
}

// now is what the wall clock shows, as the node's alarm goes by that. What is measured, or is before or after something else, has
// a reading of the monotonic clock from time.Now.
func now() time.Time { return time.Now().Round(0) }

func inspectError(name string, err error) error {
	if err == nil {
		return nil
	}
	return &Waiting{Reason: ReasonInspect, Message: fmt.Sprintf("Failed to inspect image %q: %v", name, err), RetryAt: now().Add(firstDelay)}
}
