package gc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"k8s.io/apimachinery/pkg/api/equality"
)

// handlers returns the event handlers of kind k, which add items to the queue. They run for every change of every object,
// so in the common case, a pod whose owner exists, they only read a cache.
func (c *Collector) handlers(k *kind) cache.ResourceEventHandlerFuncs {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) {
			if obj, ok := o.(metav1.Object); ok && c.ready.Load() {
				c.added(k, obj)
			}
		},
		UpdateFunc: func(was, is any) {
			before, ok1 := was.(metav1.Object)
			now, ok2 := is.(metav1.Object)
			if ok1 && ok2 && c.ready.Load() {
				c.changed(k, before, now)
			}
		},
		DeleteFunc: func(o any) {
			if lost, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = lost.Obj
			}
			if obj, ok := o.(metav1.Object); ok && c.ready.Load() {
				c.gone(obj)
			}
		},
	}
}

// enqueueAll handles all cached objects as new ones: before the informers had synced, the handlers ignored every event.
func (c *Collector) enqueueAll() {
	for _, k := range c.kinds {
		for _, found := range k.cache.List() {
			if obj, ok := found.(metav1.Object); ok {
				c.added(k, obj)
			}
		}
	}
}

func (c *Collector) added(k *kind, obj metav1.Object) {
	if stateOf(obj) != Solid {
		c.queue.Add(k.item(obj))
		return
	}
	for _, ref := range obj.GetOwnerReferences() {
		owner, ok := c.owners.cached(obj, ref)
		if !ok || stateOf(owner) != Solid {
			c.queue.Add(k.item(obj))
			return
		}
	}
}

func (c *Collector) changed(k *kind, before, now metav1.Object) {
	if before.GetUID() != now.GetUID() {
		c.gone(before)
		c.added(k, now)
		return
	}
	if stateOf(before) == stateOf(now) &&
		equality.Semantic.DeepEqual(before.GetOwnerReferences(), now.GetOwnerReferences()) {
		return
	}
	if stateOf(before) != stateOf(now) && stateOf(now) != Solid { // Again if it is deleted with another propagation policy.
		c.enqueueDependents(now)
	}
	c.enqueueOwners(before)
	c.added(k, now)
}

func (c *Collector) gone(obj metav1.Object) {
	c.waiting.Delete(obj.GetUID())
	if c.enqueueDependents(obj) > 0 {
		c.owners.deletedOwners.Add(obj.GetUID(), nil)
	}
	c.enqueueOwners(obj)
}

func (c *Collector) enqueueDependents(owner metav1.Object) int {
	n := 0
	for _, k := range c.kinds {
		for _, found := range k.dependentsOf(owner.GetUID()) {
			if obj, ok := found.(metav1.Object); ok {
				c.queue.Add(k.item(obj))
				n++
			}
		}
	}
	return n
}

// enqueueOwners queues the owners that wait for dependent. An owner waits for one of its dependents at a time and is not
// queued for the others; otherwise the deletion of n dependents would read n² of them.
func (c *Collector) enqueueOwners(dependent metav1.Object) {
	for _, ref := range dependent.GetOwnerReferences() {
		owner, ok := c.owners.cached(dependent, ref)
		if !ok || stateOf(owner) == Solid {
			continue
		}
		if blocker, ok := c.waiting.Load(ref.UID); ok && blocker != dependent.GetUID() {
			continue
		}
		if k, _, ok := c.owners.resolve(dependent, ref); ok {
			c.queue.Add(k.item(owner))
		}
	}
}
