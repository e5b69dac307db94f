package loop

import "k8s.io/apimachinery/pkg/types"

// ObserveCached takes in what the informer shows of a child. It returns that, after Rules.Merge, and whether it is news: that a child
// is shown whose creation is under way is none.
func (c *Children[T]) ObserveCached(parent types.UID, shown T) (merged T, news bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	uid := shown.GetUID()
	if before, known := c.parents[uid]; known && before != parent {
		c.dropCached(before, uid)
	}
	child := c.child(uid)
	if child == nil {
		return shown, c.observeNewCached(parent, shown)
	}
	child.cached = true
	if child.gone {
		return shown, false
	}
	news = Older(child.Newest, shown)
	if !Older(shown, child.Newest) {
		shown = c.rules.Merge(child.Newest, shown)
		child.Newest = shown
		child.Deleted = child.Deleted && shown.GetDeletionTimestamp() == nil
	}
	if !c.rules.Keep(parent, shown) {
		c.dropCached(parent, uid)
	}
	return shown, news
}

func (c *Children[T]) observeNewCached(parent types.UID, shown T) (news bool) {
	expected := false
	if f := c.childrenByParent[parent]; f != nil {
		expected = f.unknown.Has(shown.GetName())
		f.unknown.Delete(shown.GetName())
	}
	if !c.rules.Keep(parent, shown) {
		c.dropCached(parent, shown.GetUID())
		return false
	}
	c.add(parent, shown.GetUID(), &Child[T]{Newest: shown, cached: true})
	c.childSet(parent).dropped.Delete(shown.GetUID())
	return !expected
}

// ObserveDeletion takes in that the informer shows the end of a child, and returns whether that is news.
func (c *Children[T]) ObserveDeletion(parent types.UID, gone T) (news bool) {
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

// Expect takes in that a child of this name may be there from now on: its creation has begun.
func (c *Children[T]) Expect(parent types.UID, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.childrenByParent[parent]; f != nil {
		f.unknown.Insert(name)
	}
}

// Refused takes in that a child of this name was not created.
func (c *Children[T]) Refused(parent types.UID, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.childrenByParent[parent]; f != nil {
		f.unknown.Delete(name)
		c.dropIfEmpty(parent)
	}
}

// ObserveWrite takes in a child as the server has answered, to a write or a read.
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
