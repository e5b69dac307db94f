package inprocess

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/stint-dev/stint/internal/client"
)

// list reads the live objects of a namespace.
func (k *kind) list(ctx context.Context, namespace string, selector labels.Selector, each func(client.Object)) (version string, err error) {
	list, err := k.Store.List(withNamespace(ctx, namespace), &metainternalversion.ListOptions{LabelSelector: selector})
	if err != nil {
		return "", err
	}
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return "", err
	}
	return accessor.GetResourceVersion(), meta.EachListItem(list, func(item runtime.Object) error {
		obj, ok := item.(client.Object)
		if !ok {
			return fmt.Errorf("the store listed a %T, which has no metadata", item)
		}
		each(obj)
		return nil
	})
}
