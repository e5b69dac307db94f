package loop

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"
)

const (
	// CacheTimeout is how long it may take until a child that was created is cached. After that the child is read live.
	CacheTimeout = 30 * time.Second
	// maxCacheLag is how far the informer may be behind the server. A version that it has not shown by then never comes.
	maxCacheLag = 10 * time.Minute
)

// Children is a cache of the children of all parents. It has two sources: the informer, which is complete but late, and the
// server's answers to reads and writes, which are early. The newer version of a child wins.
type Children[T Object] struct {
	rules Rules[T]
	clock clock.PassiveClock

	mu               sync.Mutex
	childrenByParent map[types.UID]*childSet[T]
	// parents maps each child to its parent.
	parents map[types.UID]types.UID
}

// Rules is what differs from kind to kind.
type Rules[T Object] struct {
	// Kind is the name of the kind in errors.
	Kind string
	// Keep reports whether decisions about the parent still need the child. Nil keeps every child.
	Keep func(parent types.UID, child T) bool
	// Merge returns what to cache when a newer version is observed. Nil caches the newer version.
	Merge func(known, newer T) T
}

// Child is the state of one child.
type Child[T Object] struct {
	// Newest is the newest version observed.
	Newest T
	// Deleted means that the server has accepted the deletion and Newest does not show it yet.
	Deleted bool

	// cached means that the informer has cached the child, so its handlers will also be called when the child is removed.
	cached bool
	// gone means that the server does not have the child any more. The entry stays, so that an older version, which is
	// cached later, does not bring the child back.
	gone bool
	// since is when the server answered last.
	since time.Time
}

type childSet[T Object] struct {
	children map[types.UID]*Child[T]
	// unknown are the names of children of which it is not known whether their creation succeeded.
	unknown sets.Set[string]
	// dropped are the children of which the informer showed during the sync that they are deleted or not needed any
	// more: the answer to an earlier write must not bring them back. It is nil outside of a sync.
	dropped sets.Set[types.UID]
}

// NewChildren returns Children that knows of none. If c is nil, it uses the real clock.
func NewChildren[T Object](rules Rules[T], c clock.PassiveClock) *Children[T] {
	if rules.Keep == nil {
		rules.Keep = func(types.UID, T) bool { return true }
	}
	if rules.Merge == nil {
		rules.Merge = func(_, newer T) T { return newer }
	}
	if c == nil {
		c = clock.RealClock{}
	}
	return &Children[T]{rules: rules, clock: c, childrenByParent: map[types.UID]*childSet[T]{}, parents: map[types.UID]types.UID{}}
}

// Open begins a sync of a parent, and Close ends it. ObserveWrite has an effect only between the two.
func (c *Children[T]) Open(parent types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.childSet(parent).dropped = sets.New[types.UID]()
}

// Close ends the sync that Open began. It reports whether a child is yet to be cached. If the child was created
// and removed while the watch was broken, it is never cached: so the caller must sync again after CacheTimeout.
func (c *Children[T]) Close(parent types.UID) (awaits bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.childrenByParent[parent]
	if f == nil {
		return false
	}
	f.dropped = nil
	c.dropIfEmpty(parent)
	for _, child := range f.children {
		if !child.cached && !child.gone {
			return true
		}
	}
	return false
}

// IsOpen reports whether a sync is in progress and Forget was not called since it began.
func (c *Children[T]) IsOpen(parent types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.childrenByParent[parent] != nil && c.childrenByParent[parent].dropped != nil
}

// Of returns the existing children of a parent, in no particular order.
func (c *Children[T]) Of(parent types.UID) []Child[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.childrenByParent[parent]
	if f == nil {
		return nil
	}
	list := make([]Child[T], 0, len(f.children))
	for uid, child := range f.children {
		switch {
		case child.gone && !child.cached && c.clock.Since(child.since) > maxCacheLag:
			c.drop(uid)
		case !child.gone && c.rules.Keep(parent, child.Newest):
			list = append(list, *child)
		}
	}
	return list
}

// Forget drops the children of a parent from the cache, and returns those that exist.
func (c *Children[T]) Forget(parent types.UID) []Child[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.childrenByParent[parent]
	if f == nil {
		return nil
	}
	var list []Child[T]
	for uid, child := range f.children {
		if !child.gone {
			list = append(list, *child)
		}
		delete(c.parents, uid)
	}
	delete(c.childrenByParent, parent)
	return list
}

// Known reports whether a child of the parent is known or expected, or a sync of the parent is in progress.
func (c *Children[T]) Known(parent types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.childrenByParent[parent] != nil
}

// Has reports whether anything is known of a child. It returns false for a child that was deleted or is no longer needed.
func (c *Children[T]) Has(uid types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.child(uid) != nil
}

// Newest returns the newest version of a child, and whether the child exists and is known.
func (c *Children[T]) Newest(uid types.UID) (newest T, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if child := c.child(uid); child != nil && !child.gone {
		return child.Newest, true
	}
	return newest, false
}

func (c *Children[T]) childSet(parent types.UID) *childSet[T] {
	f := c.childrenByParent[parent]
	if f == nil {
		f = &childSet[T]{children: map[types.UID]*Child[T]{}, unknown: sets.New[string]()}
		c.childrenByParent[parent] = f
	}
	return f
}

func (c *Children[T]) child(uid types.UID) *Child[T] {
	if f := c.childrenByParent[c.parents[uid]]; f != nil {
		return f.children[uid]
	}
	return nil
}

func (c *Children[T]) add(parent, uid types.UID, child *Child[T]) {
	c.childSet(parent).children[uid] = child
	c.parents[uid] = parent
}

func (c *Children[T]) drop(uid types.UID) {
	parent := c.parents[uid]
	if f := c.childrenByParent[parent]; f != nil {
		delete(f.children, uid)
		c.dropIfEmpty(parent)
	}
	delete(c.parents, uid)
}

// dropIfEmpty drops the set of a parent that has no known or expected child and no sync in progress.
func (c *Children[T]) dropIfEmpty(parent types.UID) {
	f := c.childrenByParent[parent]
	if f != nil && f.dropped == nil && len(f.children) == 0 && len(f.unknown) == 0 {
		delete(c.childrenByParent, parent)
	}
}
