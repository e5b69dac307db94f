package inprocess

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/stint-dev/stint/internal/client"
)

// list reads all objects of a namespace as they are now.
func (k *kind) list(ctx context.Context, namespace string) ([]client.Object, error) {
	list, err := k.Store.List(in(ctx, namespace), &metainternalversion.ListOptions{})
	if err != nil {
		return nil, err
	}
	var objects []client.Object
	err = meta.EachListItem(list, func(item runtime.Object) error {
		obj, ok := item.(client.Object)
		if !ok {
			return fmt.Errorf("the store listed a %T, which has no metadata", item)
		}
		objects = append(objects, obj)
		return nil
	})
	return objects, err
}
