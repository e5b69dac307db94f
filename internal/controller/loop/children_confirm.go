package loop

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/stint-dev/stint/internal/client"
)

// Confirm reads live every child whose state is uncertain: one that may have been created, one that should be
// cached by now, and one that is listed but not cached. Listed are the children in the parent's status, UID by name;
// a UID may be empty.
func (c *Children[T]) Confirm(ctx context.Context, parent metav1.Object, resource client.Resource[T], listed map[string]types.UID) error {
	uncertain := c.unconfirmed(parent.GetUID(), listed)
	for _, name := range slices.Sorted(maps.Keys(uncertain)) {
		found, err := resource.Get(ctx, parent.GetNamespace(), name)
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("asking for %s %s/%s: %w", c.rules.Kind, parent.GetNamespace(), name, err)
		}
		exists := err == nil && metav1.IsControlledBy(found, parent)
		if !exists || uncertain[name] != found.GetUID() {
			c.missing(parent.GetUID(), name, uncertain[name])
		}
		if exists {
			c.ObserveWrite(parent.GetUID(), found)
		}
	}
	return nil
}

// unconfirmed returns the names of the children to read, each with the UID that is expected, or "".
func (c *Children[T]) unconfirmed(parent types.UID, listed map[string]types.UID) map[string]types.UID {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.childrenByParent[parent]
	if f == nil {
		return nil // The parent was forgotten meanwhile.
	}
	uncertain := map[string]types.UID{}
	names := sets.New[string]()
	for uid, child := range f.children {
		if child.gone {
			continue
		}
		names.Insert(child.Newest.GetName())
		if c.overdue(child) {
			uncertain[child.Newest.GetName()] = uid
		}
	}
	for name, uid := range listed {
		known := names.Has(name)
		if uid != "" {
			known = f.children[uid] != nil || f.dropped.Has(uid)
		}
		if !known {
			uncertain[name] = uid
		}
	}
	for name := range f.unknown {
		if _, known := uncertain[name]; !known {
			uncertain[name] = ""
		}
	}
	return uncertain
}

func (c *Children[T]) overdue(child *Child[T]) bool {
	return !child.gone && !child.cached && c.clock.Since(child.since) > CacheTimeout
}

// missing records that the server has no child of this name, or, if uid is not empty, not this one.
func (c *Children[T]) missing(parent types.UID, name string, uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.childrenByParent[parent]
	if f == nil {
		return
	}
	if f.unknown.Delete(name); uid == "" {
		return
	}
	if c.child(uid) == nil {
		c.add(parent, uid, &Child[T]{})
	}
	child := c.child(uid)
	child.gone, child.since = true, c.clock.Now()
}

// Overdue returns the children that should be cached by now.
func (c *Children[T]) Overdue(parent types.UID) (overdue []T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.childrenByParent[parent]; f != nil {
		for _, child := range f.children {
			if c.overdue(child) {
				overdue = append(overdue, child.Newest)
			}
		}
	}
	return overdue
}
