// Package inprocess is a client of the API server in this process that does not use HTTP.
//
// A call goes directly to the registry store of its kind. Defaults, strategy, validation and the check of the namespace
// are as for HTTP clients. Without content negotiation, patches and managed fields it is three times as fast. Informers
// list and watch the server's cache and share its objects.
//
//	client.Resource ──► kind ──► registry store ──► cache ──► etcd
//	                      └─ creations, and writes that start from the caller's version, bypass the cache
package inprocess

import (
	"context"
	"fmt"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/store"
)

// Kind describes one kind to the client.
type Kind struct {
	Resource kinds.Resource
	Store    *genericregistry.Store
	// Deleter deletes objects. It adds the rules of the kind to those of Store.
	Deleter rest.GracefulDeleter
	// Storage is the storage of Store.
	Storage *store.Storage
	// Strategy is used by Modify, and StatusStrategy by UpdateStatus and ModifyStatus. StatusStrategy is nil for kinds
	// without status.
	Strategy       rest.RESTUpdateStrategy
	StatusStrategy rest.RESTUpdateStrategy
}

// AdmitFunc returns an error if an object may not be created in this namespace.
type AdmitFunc func(ctx context.Context, resource schema.GroupResource, namespace, name string) error

// Client implements client.Interface.
type Client struct {
	kinds []*kind

	mu      sync.Mutex
	started map[*kind]bool
	running sync.WaitGroup
}

var _ client.Interface = (*Client)(nil)

// New returns a client for these kinds.
func New(kinds []Kind, admit AdmitFunc) *Client {
	c := &Client{started: map[*kind]bool{}}
	for _, k := range kinds {
		c.kinds = append(c.kinds, newKind(k, admit))
	}
	return c
}

// Within returns another client for the same kinds. It has its own informers, which show only the objects of one
// namespace and cluster-scoped objects.
func (c *Client) Within(namespace string) *Client {
	other := &Client{started: map[*kind]bool{}}
	for _, k := range c.kinds {
		narrow := newKind(k.Kind, k.admit)
		if !k.Resource.ClusterScoped {
			narrow.namespace = namespace
		}
		other.kinds = append(other.kinds, narrow)
	}
	return other
}

// Jobs implements client.Interface.
func (c *Client) Jobs() client.Resource[*batchv1.Job] { return of[*batchv1.Job](c, "batch", "jobs") }

// Pods implements client.Interface.
func (c *Client) Pods() client.Resource[*corev1.Pod] { return of[*corev1.Pod](c, "", "pods") }

// CronJobs implements client.Interface.
func (c *Client) CronJobs() client.Resource[*batchv1.CronJob] {
	return of[*batchv1.CronJob](c, "batch", "cronjobs")
}

// ScheduledJobs implements client.Interface.
func (c *Client) ScheduledJobs() client.Resource[*stintv1.ScheduledJob] {
	return of[*stintv1.ScheduledJob](c, stintv1.GroupName, "scheduledjobs")
}

// ResultSlices implements client.Interface.
func (c *Client) ResultSlices() client.Resource[*stintv1.ResultSlice] {
	return of[*stintv1.ResultSlice](c, stintv1.GroupName, "resultslices")
}

// PodTemplates implements client.Interface.
func (c *Client) PodTemplates() client.Resource[*corev1.PodTemplate] {
	return of[*corev1.PodTemplate](c, "", "podtemplates")
}

// Nodes implements client.Interface.
func (c *Client) Nodes() client.Resource[*corev1.Node] { return of[*corev1.Node](c, "", "nodes") }

// Namespaces implements client.Interface.
func (c *Client) Namespaces() client.Resource[*corev1.Namespace] {
	return of[*corev1.Namespace](c, "", "namespaces")
}

// ConfigMaps implements client.Interface.
func (c *Client) ConfigMaps() client.Resource[*corev1.ConfigMap] {
	return of[*corev1.ConfigMap](c, "", "configmaps")
}

// Secrets implements client.Interface.
func (c *Client) Secrets() client.Resource[*corev1.Secret] {
	return of[*corev1.Secret](c, "", "secrets")
}

// Leases implements client.Interface.
func (c *Client) Leases() client.Resource[*coordinationv1.Lease] {
	return of[*coordinationv1.Lease](c, coordinationv1.GroupName, "leases")
}

// PersistentVolumes implements client.Interface.
func (c *Client) PersistentVolumes() client.Resource[*corev1.PersistentVolume] {
	return of[*corev1.PersistentVolume](c, "", "persistentvolumes")
}

// PersistentVolumeClaims implements client.Interface.
func (c *Client) PersistentVolumeClaims() client.Resource[*corev1.PersistentVolumeClaim] {
	return of[*corev1.PersistentVolumeClaim](c, "", "persistentvolumeclaims")
}

// StorageClasses implements client.Interface.
func (c *Client) StorageClasses() client.Resource[*storagev1.StorageClass] {
	return of[*storagev1.StorageClass](c, storagev1.GroupName, "storageclasses")
}

// Services implements client.Interface.
func (c *Client) Services() client.Resource[*corev1.Service] {
	return of[*corev1.Service](c, "", "services")
}

// EndpointSlices implements client.Interface.
func (c *Client) EndpointSlices() client.Resource[*discoveryv1.EndpointSlice] {
	return of[*discoveryv1.EndpointSlice](c, discoveryv1.GroupName, "endpointslices")
}

// Kinds implements client.Interface. Events are left out, because they expire.
func (c *Client) Kinds() []client.Kind {
	var out []client.Kind
	for _, k := range c.kinds {
		r := k.Kind.Resource
		if r.TTL != 0 {
			continue
		}
		out = append(out, client.Kind{
			GroupVersionKind: r.Version.WithKind(r.Kind),
			Namespaced:       !r.ClusterScoped,
			Resource:         resource[client.Object]{k},
		})
	}
	return out
}

// Events implements client.Interface.
func (c *Client) Events() record.EventSink {
	return eventSink{of[*corev1.Event](c, "", "events")}
}

// of returns the resource of a kind. It panics if the kind is missing: the server serves all kinds of client.Interface.
func of[T client.Object](c *Client, group, plural string) resource[T] {
	for _, k := range c.kinds {
		if k.Kind.Resource.Version.Group == group && k.Kind.Resource.Plural == plural {
			return resource[T]{k}
		}
	}
	panic(fmt.Sprintf("the registry does not list %s in group %q", plural, group))
}

// StartInformers starts the requested informers that do not run yet, and waits until all have synced.
func (c *Client) StartInformers(ctx context.Context) error {
	var synced []cache.DoneChecker
	c.mu.Lock()
	for _, k := range c.kinds {
		informer := k.informerIfAny()
		if informer == nil {
			continue
		}
		synced = append(synced, informer.HasSyncedChecker())
		if !c.started[k] {
			c.started[k] = true
			c.running.Go(func() { informer.Run(ctx.Done()) })
		}
	}
	c.mu.Unlock()
	if !cache.WaitFor(ctx, "", synced...) {
		return fmt.Errorf("informers were stopped before they had synced: %w", ctx.Err())
	}
	return nil
}

// Wait waits until all informers have stopped.
func (c *Client) Wait() { c.running.Wait() }
