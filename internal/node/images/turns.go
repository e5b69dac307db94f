package images

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/image/progress"
	"github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/image/store"
)

// How many images are pulled at a time: in all, as each takes connections, files and processes that unpack its layers; and from one
// registry, so that one that does not answer, or only slowly, leaves room for pulls from others.
const (
	maxPulls             = 16
	maxPullsFromRegistry = 4
)

// running is a pull that runs, or waits for its turn.
type running struct {
	key     key
	ref     registry.Reference
	request Request
	ctx     context.Context
	cancel  context.CancelFunc
	// names are the names by which pods have asked for the image, waiting the pods that wait for it. The pod of request is one of them,
	// which the events are about.
	names   map[string]bool
	waiting map[types.UID]bool
	// began is zero until it is the pull's turn.
	began    time.Time
	progress atomic.Pointer[store.Progress]
}

// message says what a pod waits for that has asked for the image by this name.
func (r *running) message(image string) string {
	if r.began.IsZero() {
		return fmt.Sprintf("image %q waits for its turn: at most %d images are pulled at a time, and %d from one registry",
			image, maxPulls, maxPullsFromRegistry)
	}
	return progress.Message(image)
}

// replace has the events be about another pod that waits, if they were about this one.
func (r *running) replace(pod types.UID) {
	if r.request.Pod != pod {
		return
	}
	for other := range r.waiting {
		r.request.Pod = other
	}
}

// turns decides which pulls run. Those that wait are in the order in which they have come.
type turns struct{ running, waiting []*running }

// next returns a pull whose turn it is; nil if there is none.
func (t *turns) next() *running {
	if len(t.running) >= maxPulls {
		return nil
	}
	at := slices.IndexFunc(t.waiting, func(r *running) bool { return t.from(r.ref.Registry) < maxPullsFromRegistry })
	if at < 0 {
		return nil
	}
	r := t.waiting[at]
	t.waiting = slices.Delete(t.waiting, at, at+1)
	t.running = append(t.running, r)
	return r
}

// from returns how many of the pulls that run are from a registry.
func (t *turns) from(registry string) (n int) {
	for _, r := range t.running {
		if r.ref.Registry == registry {
			n++
		}
	}
	return n
}

// end removes a pull that has ended.
func (t *turns) end(r *running) {
	is := func(other *running) bool { return other == r }
	t.running, t.waiting = slices.DeleteFunc(t.running, is), slices.DeleteFunc(t.waiting, is)
}

// of returns the pulls that a pod waits for.
func (t *turns) of(pod types.UID) (pulls []*running) {
	for _, r := range slices.Concat(t.running, t.waiting) {
		if r.waiting[pod] {
			pulls = append(pulls, r)
		}
	}
	return pulls
}
