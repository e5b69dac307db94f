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

// leaseHolder knows whether this process may write. The elector notices by its own timers that the lease is lost; a process that
// was frozen meanwhile, or whose lease another process has acquired, must not write before that.
type leaseHolder struct {
	resourcelock.Interface
	duration time.Duration
	// lost is closed when another process is observed to hold the lease that this process held.
	lost chan struct{}

	mu sync.Mutex
	// until is when others may acquire the lease; zero before this process has acquired it.
	until time.Time
	// holder is the process that has acquired it since.
	holder string
}

// Get implements resourcelock.Interface. It observes the holder.
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

// Create implements resourcelock.Interface: it acquires a lease that did not exist.
func (t *leaseHolder) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	asked := time.Now()
	err := t.Interface.Create(ctx, record)
	t.renewed(asked, err)
	return err
}

// Update implements resourcelock.Interface: it acquires or renews the lease.
func (t *leaseHolder) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	asked := time.Now()
	err := t.Interface.Update(ctx, record)
	t.renewed(asked, err)
	return err
}

// renewed counts from before the request, as others may observe the lease before this process gets the response.
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
	// The monotonic clock stops while a machine sleeps, so the wall clock is compared as well.
	return t.holder == "" && now.Before(t.until) && now.Round(0).Before(t.until)
}

// end forbids further writes, even if the lease has not expired yet.
func (t *leaseHolder) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.duration, t.until = 0, time.Now()
}

// begun reports whether the lease was acquired, even if it is lost since.
func (t *leaseHolder) begun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.until.IsZero()
}

// successor returns " to " and the new holder of the lease, if known.
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
			_ = r.Body.Close() // A RoundTripper must close the body.
		}
		return nil, fmt.Errorf("%s %s: the lease %s is not held any more", r.Method, r.URL.Path, g.leaseHolder.Describe())
	}
	return g.next.RoundTrip(r)
}
