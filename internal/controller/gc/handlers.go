package gc

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"k8s.io/apimachinery/pkg/api/equality"
)

// handlers turn what an informer of kind k says into items to look at. They run for every change of every object, so
// the common case (a pod whose owner lives) must end after a look into a cache.
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

// enqueueAll makes up for what happened before the caches were filled: the handlers kept still then.
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
	if stateOf(before) != stateOf(now) && stateOf(now) != Solid { // More than once, where somebody chooses again.
		c.enqueueDependents(now)
	}
	c.wakeOwners(before)
	c.added(k, now)
}

func (c *Collector) gone(obj metav1.Object) {
	c.waiting.Delete(obj.GetUID())
	if c.enqueueDependents(obj) > 0 {
		c.owners.deletedOwners.Add(obj.GetUID(), nil)
	}
	c.wakeOwners(obj)
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

// wakeOwners looks at the owners that waited for dependent. An owner of many dependents notes one that it waits for
// and is left alone until that one changes; else the deletion of n dependents would cost n² looks.
func (c *Collector) wakeOwners(dependent metav1.Object) {
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
