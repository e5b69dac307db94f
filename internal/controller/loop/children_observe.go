package loop

import "k8s.io/apimachinery/pkg/types"

// ObserveCached takes in the cached version of a child. It returns that version after Rules.Merge, and whether it is newer
// than what was known. A new child whose creation was expected is not new.
func (c *Children[T]) ObserveCached(parent types.UID, cached T) (merged T, isNew bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	uid := cached.GetUID()
	if before, known := c.parents[uid]; known && before != parent {
		c.dropCached(before, uid)
	}
	child := c.child(uid)
	if child == nil {
		return cached, c.observeNewCached(parent, cached)
	}
	child.cached = true
	if child.gone {
		return cached, false
	}
	isNew = Older(child.Newest, cached)
	if !Older(cached, child.Newest) {
		cached = c.rules.Merge(child.Newest, cached)
		child.Newest = cached
		child.Deleted = child.Deleted && cached.GetDeletionTimestamp() == nil
	}
	if !c.rules.Keep(parent, cached) {
		c.dropCached(parent, uid)
	}
	return cached, isNew
}

func (c *Children[T]) observeNewCached(parent types.UID, cached T) (isNew bool) {
	expected := false
	if f := c.childrenByParent[parent]; f != nil {
		expected = f.unknown.Has(cached.GetName())
		f.unknown.Delete(cached.GetName())
	}
	if !c.rules.Keep(parent, cached) {
		c.dropCached(parent, cached.GetUID())
		return false
	}
	c.add(parent, cached.GetUID(), &Child[T]{Newest: cached, cached: true})
	c.childSet(parent).dropped.Delete(cached.GetUID())
	return !expected
}

// ObserveDeletion takes in that a child was removed from the informer's cache. It reports whether the child was known, or a
// sync is in progress that may have used it.
func (c *Children[T]) ObserveDeletion(parent types.UID, gone T) (isNew bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	uid := gone.GetUID()
	before, known := c.parents[uid]
	during := c.dropCached(parent, uid)
	if known && before != parent {
		c.dropCached(before, uid)
	}
	return known || during
}

// dropCached drops a child that the informer knows, and returns whether a sync of the parent is under way.
func (c *Children[T]) dropCached(parent, uid types.UID) (during bool) {
	f := c.childrenByParent[parent]
	if during = f != nil && f.dropped != nil; during {
		f.dropped.Insert(uid)
	}
	if c.parents[uid] == parent {
		c.drop(uid)
	}
	c.dropIfEmpty(parent)
	return during
}

// Expect must be called before a child of this name is created: from then on it may exist.
func (c *Children[T]) Expect(parent types.UID, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.childrenByParent[parent]; f != nil {
		f.unknown.Insert(name)
	}
}

// Refused takes in that the child of this name was certainly not created.
func (c *Children[T]) Refused(parent types.UID, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.childrenByParent[parent]; f != nil {
		f.unknown.Delete(name)
		c.dropIfEmpty(parent)
	}
}

// ObserveWrite takes in the server's answer to a write or a live read. It has no effect outside of a sync, or if the child
// was removed from the informer's cache since the sync began.
func (c *Children[T]) ObserveWrite(parent types.UID, answer T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	uid := answer.GetUID()
	f := c.childrenByParent[parent]
	if f == nil || f.dropped == nil || f.dropped.Has(uid) {
		return
	}
	f.unknown.Delete(answer.GetName())
	if before, known := c.parents[uid]; known && before != parent {
		c.drop(uid)
	}
	child := f.children[uid]
	if child == nil {
		child = &Child[T]{Newest: answer}
		c.add(parent, uid, child)
	}
	if child.gone {
		return
	}
	child.since = c.clock.Now()
	if Older(child.Newest, answer) {
		child.Newest = c.rules.Merge(child.Newest, answer)
	}
}

// Deleted takes in that the server has accepted the deletion of a child.
func (c *Children[T]) Deleted(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if child := c.child(uid); child != nil {
		child.Deleted = child.Newest.GetDeletionTimestamp() == nil
	}
}

// Gone takes in that the server does not have a child any more.
func (c *Children[T]) Gone(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if child := c.child(uid); child != nil {
		child.gone, child.since = true, c.clock.Now()
	}
}
