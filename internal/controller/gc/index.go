package gc

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
)

// byOwner indexes objects by the UIDs of their owners.
const byOwner = "gc.owner"

func ownerUIDs(obj any) ([]string, error) {
	o, ok := obj.(metav1.Object)
	if !ok {
		return nil, fmt.Errorf("index by owner: %T has no metadata", obj)
	}
	refs := o.GetOwnerReferences()
	if len(refs) == 0 {
		return nil, nil
	}
	uids := make([]string, len(refs))
	for i, ref := range refs {
		uids[i] = string(ref.UID)
	}
	return uids, nil
}

// kind is one kind of object and its informer's cache.
type kind struct {
	client.Kind
	cache cache.Indexer
}

// item identifies one object; another object of the same name is another item.
type item struct {
	kind            *kind
	namespace, name string
	uid             types.UID
}

func (i item) String() string {
	return fmt.Sprintf("%s %s/%s", i.kind.Kind.Kind, i.namespace, i.name)
}

func (k *kind) item(obj metav1.Object) item {
	return item{kind: k, namespace: obj.GetNamespace(), name: obj.GetName(), uid: obj.GetUID()}
}

// cached returns the object of this name and UID, if it is cached.
func (k *kind) cached(namespace, name string, uid types.UID) (client.Object, bool) {
	key := name
	if namespace != "" {
		key = namespace + "/" + name
	}
	found, ok, err := k.cache.GetByKey(key)
	if err != nil || !ok {
		return nil, false
	}
	obj, ok := found.(client.Object)
	return obj, ok && obj.GetUID() == uid
}

// dependentsOf returns the cached objects of this kind that name an owner of that UID.
func (k *kind) dependentsOf(owner types.UID) []any {
	found, err := k.cache.ByIndex(byOwner, string(owner))
	if err != nil {
		return nil // New has added the index.
	}
	return found
}
