package node

import (
	"context"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

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
	recorder record.EventRecorder
	// taken are the node ports that other programs have.
	taken []uint16
}

// allServices returns none on a node that serves none.
func (f *serviceFeed) allServices() []*corev1.Service {
	if f.services == nil {
		return nil
	}
	return listed[*corev1.Service](f.services)
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
		for !f.feed(ctx) && ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-f.changed:
			case <-time.After(retryAfter):
			}
		}
	}
}

// feed returns false if it is to be tried again.
func (f *serviceFeed) feed(ctx context.Context) bool {
	all := f.allServices()
	taken, err := f.runtime.SetServices(ctx, services.Of(f.within, all, listed[*discoveryv1.EndpointSlice](f.slices)))
	if err != nil {
		warn(ctx, "tell the container host process of the Services", err)
		return false
	}
	f.recordTaken(all, taken)
	return true
}

// recordTaken records an event about each node port that another program has, once as long as that has it.
func (f *serviceFeed) recordTaken(all []*corev1.Service, taken []uint16) {
	before := f.taken
	f.taken = taken
	for _, svc := range all {
		for _, p := range svc.Spec.Ports {
			port := uint16(p.NodePort)
			if slices.Contains(taken, port) && !slices.Contains(before, port) {
				f.recorder.Eventf(svc, corev1.EventTypeWarning, "NodePortTaken",
					"Another program on this machine listens on port %d; end it, or choose another nodePort. Until then, it is tried again", port)
			}
		}
	}
}

func listed[T any](informer cache.SharedIndexInformer) []T {
	objects := informer.GetStore().List()
	all := make([]T, len(objects))
	for i, obj := range objects {
		all[i] = obj.(T)
	}
	return all
}
