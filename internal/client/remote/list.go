package remote

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// pageSize is the number of objects that one list request asks for. Pages keep the memory for long lists small.
const pageSize = 100

// List reads page by page. It fails if it takes so long that the API server no longer has the state of the first page.
func (r *resource[T]) List(ctx context.Context, namespace string, selector labels.Selector, each func(T)) (version string, err error) {
	options := metav1.ListOptions{LabelSelector: selector.String(), Limit: pageSize}
	for {
		list, err := r.page(ctx, namespace, options)
		if err != nil {
			return "", err
		}
		err = meta.EachListItem(list, func(obj runtime.Object) error {
			o, ok := obj.(T)
			if !ok {
				return fmt.Errorf("the API server listed a %T among the %s", obj, r.plural)
			}
			each(o)
			return nil
		})
		if err != nil {
			return "", err
		}
		accessor, err := meta.ListAccessor(list)
		if err != nil {
			return "", err
		}
		if accessor.GetContinue() == "" {
			return accessor.GetResourceVersion(), nil
		}
		options.Continue = accessor.GetContinue()
	}
}

func (r *resource[T]) page(ctx context.Context, namespace string, options metav1.ListOptions) (runtime.Object, error) {
	list, _, err := retry(ctx, shortRetry, func() (runtime.Object, error) {
		list, err := scheme.New(r.GroupVersion().WithKind(r.Kind + "List"))
		if err != nil {
			return nil, err
		}
		err = r.namespaced(r.writes.Get(), namespace).VersionedParams(&options, parameters).Do(ctx).Into(list)
		return list, err
	})
	return list, err
}
