package endpointslice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
	"github.com/stint-dev/stint/internal/podstatus"
)

const (
	workers = 5
	// byService indexes the slices of this controller by the Service that they are of.
	byService = "endpointSlicesByService"
)

// Client is the part of the API that the Controller uses.
type Client interface {
	Services() client.Resource[*corev1.Service]
	EndpointSlices() client.Resource[*discoveryv1.EndpointSlice]
	Pods() client.Resource[*corev1.Pod]
}

// Controller writes the slices of the Services of one API server.
type Controller struct {
	services client.Resource[*corev1.Service]
	slices   client.Resource[*discoveryv1.EndpointSlice]
	pods     client.Resource[*corev1.Pod]
	loop     *loop.Loop
}

// New watches Services, their slices and pods of c. The informers may be started after it returns.
func New(c Client) *Controller {
	e := &Controller{services: c.Services(), slices: c.EndpointSlices(), pods: c.Pods(), loop: loop.New("endpoint_slice", nil)}
	e.loop.FailStart(e.slices.Informer().AddIndexers(cache.Indexers{byService: serviceOf}))
	e.loop.Watch(e.services.Informer(), loop.Handler(func(was, is *corev1.Service) { e.loop.Queue.Add(loop.Key(cmp.Or(is, was))) }))
	e.loop.Watch(e.slices.Informer(), loop.Handler(e.sliceChanged))
	e.loop.Watch(e.pods.Informer(), loop.Handler(e.podChanged))
	return e
}

// Run writes slices until ctx ends.
func (e *Controller) Run(ctx context.Context) error { return e.loop.Run(ctx, workers, e.sync) }

// serviceOf is an index function: the key of the Service of a slice that this controller has written.
func serviceOf(obj any) ([]string, error) {
	s, ok := obj.(*discoveryv1.EndpointSlice)
	if !ok || s.Labels[discoveryv1.LabelManagedBy] != manager {
		return nil, nil
	}
	return []string{types.NamespacedName{Namespace: s.Namespace, Name: s.Labels[discoveryv1.LabelServiceName]}.String()}, nil
}

func (e *Controller) sliceChanged(was, is *discoveryv1.EndpointSlice) {
	for _, s := range []*discoveryv1.EndpointSlice{was, is} {
		if s != nil && s.Labels[discoveryv1.LabelManagedBy] == manager {
			e.loop.Queue.Add(types.NamespacedName{Namespace: s.Namespace, Name: s.Labels[discoveryv1.LabelServiceName]})
		}
	}
}

// podChanged looks again at the Services of a pod. Most pods have none.
func (e *Controller) podChanged(was, is *corev1.Pod) {
	if was != nil && is != nil && sameEndpoint(was, is) {
		return
	}
	services, err := e.services.Informer().GetIndexer().ByIndex(cache.NamespaceIndex, cmp.Or(is, was).Namespace)
	if err != nil || len(services) == 0 {
		return
	}
	for _, obj := range services {
		svc := obj.(*corev1.Service)
		if was != nil && isBehind(svc, was) || is != nil && isBehind(svc, is) {
			e.loop.Queue.Add(loop.Key(svc))
		}
	}
}

// sameEndpoint reports whether two versions of a pod are the same to Services.
func sameEndpoint(a, b *corev1.Pod) bool {
	return a.Status.PodIP == b.Status.PodIP && a.Spec.NodeName == b.Spec.NodeName && podstatus.IsReady(a) == podstatus.IsReady(b) &&
		podstatus.IsTerminated(a) == podstatus.IsTerminated(b) && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) &&
		maps.Equal(a.Labels, b.Labels)
}

func isBehind(svc *corev1.Service, p *corev1.Pod) bool {
	return hasEndpoints(svc) && labels.SelectorFromSet(svc.Spec.Selector).Matches(labels.Set(p.Labels))
}

func (e *Controller) sync(ctx context.Context, key types.NamespacedName) error {
	svc := loop.Cached[*corev1.Service](e.services.Informer(), key)
	var pods []*corev1.Pod
	if svc != nil && svc.DeletionTimestamp == nil && hasEndpoints(svc) {
		for _, p := range found[*corev1.Pod](e.pods.Informer(), cache.NamespaceIndex, key.Namespace) {
			if isBehind(svc, p) {
				pods = append(pods, p)
			}
		}
	}
	err := e.apply(ctx, planFor(svc, pods, found[*discoveryv1.EndpointSlice](e.slices.Informer(), byService, key.String())))
	if err != nil && ctx.Err() == nil && !isRoutine(err) {
		klog.FromContext(ctx).Error(err, "The EndpointSlices of a Service are retried", "service", key)
	}
	return err
}

// isRoutine reports whether err only means that the informers are behind, or that the namespace is being deleted.
func isRoutine(err error) bool {
	return apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

func (e *Controller) apply(ctx context.Context, c changes) error {
	var failures []error
	for _, s := range c.create {
		if _, err := e.slices.Create(ctx, s); err != nil {
			failures = append(failures, fmt.Errorf("creating EndpointSlice %s: %w", s.Name, err))
		}
	}
	for _, s := range c.update {
		if err := e.update(ctx, s); err != nil {
			failures = append(failures, fmt.Errorf("updating EndpointSlice %s: %w", s.Name, err))
		}
	}
	for _, s := range c.remove {
		if err := e.slices.Delete(ctx, s, client.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			failures = append(failures, fmt.Errorf("deleting EndpointSlice %s: %w", s.Name, err))
		}
	}
	return errors.Join(failures...)
}

// update writes the content of a slice. One that is gone is missed when the informer shows that.
func (e *Controller) update(ctx context.Context, want *discoveryv1.EndpointSlice) error {
	observed := loop.Cached[*discoveryv1.EndpointSlice](e.slices.Informer(), loop.Key(want))
	if observed == nil || observed.UID != want.UID {
		return nil
	}
	_, err := e.slices.Modify(ctx, observed, func(s *discoveryv1.EndpointSlice) {
		if !apiequality.Semantic.DeepEqual(s.Endpoints, want.Endpoints) {
			s.Endpoints = want.Endpoints
		}
		s.Ports, s.Labels = want.Ports, want.Labels
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// found returns the cached objects that an index has for a value.
func found[T loop.Object](informer cache.SharedIndexInformer, index, value string) []T {
	objects, err := informer.GetIndexer().ByIndex(index, value)
	if err != nil {
		return nil // New has added the index.
	}
	all := make([]T, len(objects))
	for i, obj := range objects {
		all[i] = obj.(T)
	}
	return all
}
