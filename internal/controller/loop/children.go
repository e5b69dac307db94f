package loop

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"
)

const (
	// CacheTimeout is how long the informer may take to show a child that was created. After that the server is asked.
	CacheTimeout = 30 * time.Second
	// maxCacheLag is how far the informer may be behind the server. What it has not shown by then, it never will.
	maxCacheLag = 10 * time.Minute
)

// Children is what is known of the children of all parents. It is told from two sides: by the informer, which is complete
// but late, and by the answers of the server, which are early. The newer version of a child wins.
type Children[T Object] struct {
	rules Rules[T]
	clock clock.PassiveClock

	mu               sync.Mutex
	childrenByParent map[types.UID]*childSet[T]
	// parents has the parent of each child.
	parents map[types.UID]types.UID
}

// Rules is what differs from kind to kind. Nil functions stand for the simplest rule.
type Rules[T Object] struct {
	// Kind is what errors call a child.
	Kind string
	// Keep reports whether decisions about the parent still need the child. They need all where nil.
	Keep func(parent types.UID, child T) bool
	// Merge returns what is known after a newer version. It is that version where nil.
	Merge func(known, newer T) T
}

// Child is what is known of one child.
type Child[T Object] struct {
	// Newest is the newest known version.
	Newest T
	// Deleted means that the server has accepted the deletion and Newest does not show it yet.
	Deleted bool

	// cached means that the informer knows the child, and so will tell its end.
	cached bool
	// gone means that the server does not have the child any more. It stays known, so that older news of it, still to
	// be shown, do not bring it back.
	gone bool
	// since is when the server answered last.
	since time.Time
}

type childSet[T Object] struct {
	children map[types.UID]*Child[T]
	// unknown are the names of children that may have been created.
	unknown sets.Set[string]
	// dropped are the children that the informer has shown during the sync as deleted or as not needed any more: the
	// answer to an earlier write must not bring them back. It is nil outside of a sync.
	dropped sets.Set[types.UID]
}

// NewChildren makes an empty cache. The clock is the real one where nil.
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

// Open begins a sync of a parent, and Close ends it. Answers of the server are taken in between the two.
func (c *Children[T]) Open(parent types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.childSet(parent).dropped = sets.New[types.UID]()
}

// Close is for after Open. It returns whether the informer has still to show a child. Where that has come and gone while the
// watch was broken the informer never will, so the parent must be looked at again once CacheTimeout is over.
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

// IsOpen reports whether a sync is under way, and its parent was not forgotten since it began.
func (c *Children[T]) IsOpen(parent types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.childrenByParent[parent] != nil && c.childrenByParent[parent].dropped != nil
}

// Of returns the children of a parent that are there, in no order.
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

// Forget drops all that is known of the children of a parent, and returns those that are there.
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

// Known reports whether anything is known of the children of a parent, or a sync of it is under way.
func (c *Children[T]) Known(parent types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.childrenByParent[parent] != nil
}

// Has reports whether anything is known of a child. Of one that the informer has shown as deleted or not needed any more
// nothing is.
func (c *Children[T]) Has(uid types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.child(uid) != nil
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

// dropIfEmpty drops a family of which nothing is known and nothing is under way.
func (c *Children[T]) dropIfEmpty(parent types.UID) {
	f := c.childrenByParent[parent]
	if f != nil && f.dropped == nil && len(f.children) == 0 && len(f.unknown) == 0 {
		delete(c.childrenByParent, parent)
	}
}
