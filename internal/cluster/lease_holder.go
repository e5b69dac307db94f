package cluster

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// leaseHolder watches over the lease on behalf of those who write. The elector finds out by its own timers that the lease is
// lost; a process that stood still meanwhile, or whose lease somebody else has taken, must not write before that.
type leaseHolder struct {
	resourcelock.Interface
	duration time.Duration
	// lost is closed when somebody else is seen to hold the lease that this process held.
	lost chan struct{}

	mu sync.Mutex
	// until is when others may take the lease; zero before it is won.
	until time.Time
	// holder is who has taken it.
	holder string
}

// Get reads the lease, and who holds it.
func (t *leaseHolder) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := t.Interface.Get(ctx)
	if err == nil {
		t.seen(record.HolderIdentity)
	}
	return record, raw, err
}

func (t *leaseHolder) seen(holder string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.until.IsZero() || t.holder != "" || holder == "" || holder == t.Identity() {
		return
	}
	t.holder = holder
	close(t.lost)
}

// Create takes a lease that was not there.
func (t *leaseHolder) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	asked := time.Now()
	err := t.Interface.Create(ctx, record)
	t.renewed(asked, err)
	return err
}

// Update takes the lease or renews it.
func (t *leaseHolder) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	asked := time.Now()
	err := t.Interface.Update(ctx, record)
	t.renewed(asked, err)
	return err
}

// renewed counts from before the request: others may have seen its effect before this process had the answer.
func (t *leaseHolder) renewed(asked time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.until = asked.Add(t.duration)
	}
}

func (t *leaseHolder) holds() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	// The monotonic clock stands still while a machine sleeps, so the wall clock has to agree.
	return t.holder == "" && now.Before(t.until) && now.Round(0).Before(t.until)
}

// end lets nothing more be written, although the others may have to wait for some time yet.
func (t *leaseHolder) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.duration, t.until = 0, time.Now()
}

// begun tells that the lease was won, which does not say that it is held.
func (t *leaseHolder) begun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.until.IsZero()
}

// successor tells who has taken the lease, where that is known.
func (t *leaseHolder) successor() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.holder == "" {
		return ""
	}
	return " to " + t.holder
}

// guard returns config with a transport that writes only while the lease is held.
func (t *leaseHolder) guard(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return leaseTransport{t, next} })
	return config
}

type leaseTransport struct {
	leaseHolder *leaseHolder
	next        http.RoundTripper
}

func (g leaseTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet && !g.leaseHolder.holds() {
		if r.Body != nil {
			_ = r.Body.Close() // A RoundTripper has to, and nobody has read from it.
		}
		return nil, fmt.Errorf("%s %s: the lease %s is not held any more", r.Method, r.URL.Path, g.leaseHolder.Describe())
	}
	return g.next.RoundTrip(r)
}
