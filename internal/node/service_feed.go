package node

import (
	"context"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/node/services"
)

// serviceFeed tells the runtime where Services lead to, whenever that changes.
type serviceFeed struct {
	runtime  runtime.Runtime
	within   netip.Prefix
	services cache.SharedIndexInformer
	slices   cache.SharedIndexInformer
	changed  chan struct{}
}

func (f *serviceFeed) handler() cache.ResourceEventHandler {
	changed := func(any) {
		select {
		case f.changed <- struct{}{}:
		default: // The next round sees this change too.
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: changed, UpdateFunc: func(_, is any) { changed(is) }, DeleteFunc: changed}
}

// run feeds the runtime until ctx ends.
func (f *serviceFeed) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.changed:
		}
		for f.feed(ctx) != nil && ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(retryAfter):
			}
		}
	}
}

func (f *serviceFeed) feed(ctx context.Context) error {
	err := f.runtime.SetServices(ctx, services.Of(f.within, listed[*corev1.Service](f.services), listed[*discoveryv1.EndpointSlice](f.slices)))
	if err != nil {
		warn(ctx, "tell the container host process of the Services", err)
	}
	return err
}

func listed[T any](informer cache.SharedIndexInformer) []T {
	objects := informer.GetStore().List()
	all := make([]T, len(objects))
	for i, obj := range objects {
		all[i] = obj.(T)
	}
	return all
}
