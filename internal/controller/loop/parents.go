package loop

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/client"
)

// maxSyncRounds is how often one sync decides at most; after that the object is requeued.
const maxSyncRounds = 10

// ErrOutdated means that a decision was made on a version that is, or may be, not the newest.
var ErrOutdated = errors.New("the object has changed since it was read")

// Parents are the objects of one kind that a controller decides about. S is the state that it keeps of each between syncs.
// A decision is made on the newest version: until it is cached, that is the server's answer to the last write.
type Parents[T Object, S any] struct {
	loop     *Loop
	kind     string
	resource client.Resource[T]
	children syncTracker

	mu    sync.Mutex
	known map[types.NamespacedName]*parent[T, S]
}

type parent[T Object, S any] struct {
	uid    types.UID
	latest Latest[T]
	state  S
}

// syncTracker is the part of Children that does not depend on their type.
type syncTracker interface {
	Open(parent types.UID)
	Close(parent types.UID) (awaits bool)
}

// NewParents returns the Parents of one kind, by the name that errors have for it.
func NewParents[T Object, S any](l *Loop, kind string, resource client.Resource[T], children syncTracker) *Parents[T, S] {
	return &Parents[T, S]{loop: l, kind: kind, resource: resource, children: children, known: map[types.NamespacedName]*parent[T, S]{}}
}

// Decide is one round of a sync. It returns again to ask for another round. Confirmed is false if the server may have a
// newer version: until the object is written or read live for the first time, and after a write whose outcome is unknown.
type Decide[T Object] func(ctx context.Context, newest T, confirmed bool) (again bool, err error)

// Sync calls decide with the newest version of an object. If that was outdated, Sync reads the object live and decides
// again.
func (p *Parents[T, S]) Sync(ctx context.Context, key types.NamespacedName, decide Decide[T]) error {
	for range maxSyncRounds {
		cached := Cached[T](p.resource.Informer(), key)
		var none T
		if cached == none {
			p.forget(key)
			p.loop.Alarm.Set(key, time.Time{})
			return nil
		}
		again, err := p.round(ctx, cached, decide)
		if err != nil || !again {
			return err
		}
	}
	p.loop.Queue.Add(key)
	return nil
}

func (p *Parents[T, S]) round(ctx context.Context, cached T, decide Decide[T]) (again bool, err error) {
	p.children.Open(cached.GetUID())
	defer func() {
		if awaits := p.children.Close(cached.GetUID()); awaits {
			p.loop.Queue.AddAfter(Key(cached), CacheTimeout+time.Second)
		}
	}()
	newest, confirmed := p.newest(cached)
	again, err = decide(ctx, newest, confirmed)
	if errors.Is(err, ErrOutdated) {
		return true, p.read(ctx, newest)
	}
	return again, err
}

// UpdateStatus stores the status of changed and returns what is stored. It fails with ErrOutdated if changed was made from
// an older version.
func (p *Parents[T, S]) UpdateStatus(ctx context.Context, changed T) (stored T, err error) {
	stored, err = p.resource.UpdateStatus(ctx, changed)
	switch {
	case apierrors.IsConflict(err):
		return stored, ErrOutdated
	case err != nil:
		p.update(changed, func(k *parent[T, S]) { k.latest.Confirmed = false })
		return stored, fmt.Errorf("storing the status of %s %s: %w", p.kind, Key(changed), err)
	}
	p.observeWrite(stored)
	return stored, nil
}

// Newest returns the newest known version of an object.
func (p *Parents[T, S]) Newest(known T) T {
	newest, _ := p.newest(known)
	return newest
}

// IsOwn reports whether cached is the version that the last write or live read returned, or an older one. Then no sync is
// needed.
func (p *Parents[T, S]) IsOwn(cached T) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.known[Key(cached)]
	return k != nil && k.uid == cached.GetUID() && k.latest.Covers(cached)
}

// Update calls do with the state that the controller keeps of an object.
func (p *Parents[T, S]) Update(object T, do func(*S)) {
	p.update(object, func(k *parent[T, S]) { do(&k.state) })
}

// UpdateKnown calls do with what the controller keeps of an object, if it keeps anything.
func (p *Parents[T, S]) UpdateKnown(key types.NamespacedName, uid types.UID, do func(*S)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.known[key]; k != nil && k.uid == uid {
		do(&k.state)
	}
}

// Forget drops what the controller keeps of an object.
func (p *Parents[T, S]) Forget(object T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.known[Key(object)]; k != nil && k.uid == object.GetUID() {
		delete(p.known, Key(object))
	}
}

func (p *Parents[T, S]) update(object T, do func(*parent[T, S])) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.known[Key(object)]
	if k == nil || k.uid != object.GetUID() {
		k = &parent[T, S]{uid: object.GetUID()}
		p.known[Key(object)] = k
	}
	do(k)
}

func (p *Parents[T, S]) newest(cached T) (newest T, confirmed bool) {
	p.update(cached, func(k *parent[T, S]) { newest, confirmed = k.latest.Newest(cached), k.latest.Confirmed })
	return newest, confirmed
}

func (p *Parents[T, S]) observeWrite(answer T) {
	p.update(answer, func(k *parent[T, S]) { k.latest.ObserveWrite(answer) })
}

// read reads the newest version live.
func (p *Parents[T, S]) read(ctx context.Context, known T) error {
	fresh, err := p.resource.Get(ctx, known.GetNamespace(), known.GetName())
	if err != nil {
		return fmt.Errorf("asking for %s %s: %w", p.kind, Key(known), err)
	}
	if fresh.GetUID() != known.GetUID() {
		return fmt.Errorf("asking for %s %s: another object has the name now", p.kind, Key(known))
	}
	p.observeWrite(fresh)
	return nil
}

func (p *Parents[T, S]) forget(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, key)
}
