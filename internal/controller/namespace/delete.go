package namespace

import (
	"context"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/stint-dev/stint/internal/client"
)

// deleteAll deletes contents, several objects at a time. It returns what could not be deleted, and one error for each kind.
func (p *ContentDeleter) deleteAll(ctx context.Context, contents []Content[client.Object]) (stuck []Content[client.Object], failures []error) {
	for _, c := range contents {
		left, err := deleteKind(ctx, p.kindOf(c.Resource), c.Objects)
		if err != nil {
			stuck = append(stuck, Content[client.Object]{Resource: c.Resource, Objects: left})
			failures = append(failures, err)
		}
	}
	return stuck, failures
}

func (p *ContentDeleter) kindOf(r schema.GroupResource) kind {
	return p.kinds[slices.IndexFunc(p.kinds, func(k kind) bool { return k.resource == r })]
}

// deleteKind deletes objects with their own grace periods, and in the background: their dependents are in the same
// namespace and are deleted anyway.
func deleteKind(ctx context.Context, k kind, objects []client.Object) (left []client.Object, err error) {
	var mu sync.Mutex
	var running sync.WaitGroup
	slots := make(chan struct{}, deletions)
	for _, obj := range objects {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			e := k.Delete(ctx, obj, client.DeleteOptions{Propagation: metav1.DeletePropagationBackground})
			if e == nil || apierrors.IsNotFound(e) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			left = append(left, obj)
			err = fmt.Errorf("delete %s %s: %w", k.resource, obj.GetName(), e)
		})
	}
	running.Wait()
	return left, err
}
