// Package client is all that controllers and the node may ask of an API server.
//
// There are two implementations: one goes straight to the registry of the API server in this process
// (internal/apiserver), the other goes through client-go to any Kubernetes cluster (client/remote). What both promise
// stands in test/clienttest as tests.
// A controller sees only this package, so it cannot tell where it runs.
package client

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// Object is a pointer to an API type.
type Object interface {
	runtime.Object
	metav1.Object
}

// Interface is a connection to one API server.
//
// Errors are those of k8s.io/apimachinery/pkg/api/errors (IsNotFound, IsConflict …).
type Interface interface {
	Jobs() Resource[*batchv1.Job]
	Pods() Resource[*corev1.Pod]
	CronJobs() Resource[*batchv1.CronJob]
	ScheduledJobs() Resource[*stintv1.ScheduledJob]
	ResultSlices() Resource[*stintv1.ResultSlice]
	PodTemplates() Resource[*corev1.PodTemplate]
	Nodes() Resource[*corev1.Node]
	Namespaces() Resource[*corev1.Namespace]
	ConfigMaps() Resource[*corev1.ConfigMap]
	Secrets() Resource[*corev1.Secret]
	Leases() Resource[*coordinationv1.Lease]
	// Kinds lists every kind that can own or be owned, for controllers that treat all kinds alike.
	Kinds() []Kind
	// Events is where an event broadcaster (client-go's record package) writes.
	Events() record.EventSink
}

// Resource reads and writes the objects of one kind in all namespaces.
//
// Objects that Get, an informer or a write returns may be shared with the cache: never change them, DeepCopy first.
type Resource[T Object] interface {
	// Informer returns the one shared informer of this kind. Whoever owns the connection starts it, after the
	// controllers have added their handlers. On a cluster it leaves out what no controller reads, so what it shows can
	// be changed with Modify but is never written whole.
	Informer() cache.SharedIndexInformer

	// Get reads the newest state. Namespace is empty for cluster-scoped kinds.
	Get(ctx context.Context, namespace, name string) (T, error)

	// List hands the newest state of the objects in one namespace that selector matches to each, past the cache. Any
	// change of an object of this kind after that has a newer resource version than the one returned.
	List(ctx context.Context, namespace string, selector labels.Selector, each func(T)) (version string, err error)

	Create(ctx context.Context, obj T) (T, error)

	// UpdateStatus replaces the status of obj; it fails with a conflict if obj is not the newest version.
	UpdateStatus(ctx context.Context, obj T) (T, error)

	// Modify applies change to the object that observed shows and writes no more than the difference, whatever
	// else was written to the object meanwhile. Change covers metadata and spec, not status. It adds and removes
	// entries of lists and maps and leaves the others: it may see the object as observed or newer, and be called more
	// than once. NotFound if the object is gone or is another one of the same name (other UID).
	Modify(ctx context.Context, observed T, change func(T)) (T, error)

	// ModifyStatus is Modify for the status. The API server of this process lets it set a pod's spec.nodeName as well,
	// where that was empty, so that a node can bind a pod and report it running in one write.
	ModifyStatus(ctx context.Context, observed T, change func(T)) (T, error)

	// Delete deletes the object with obj's namespace, name and, as a precondition, UID.
	Delete(ctx context.Context, obj T, opts DeleteOptions) error
}

// Kind is one kind of object whatever its type: for garbage collection and the emptying of namespaces.
type Kind struct {
	schema.GroupVersionKind
	Namespaced bool
	Resource[Object]
}

// DeleteOptions are the choices that a deletion leaves open.
type DeleteOptions struct {
	// GracePeriodSeconds overrides the object's own; nil leaves it.
	GracePeriodSeconds *int64
	// Propagation decides what becomes of dependents; empty is the server's default.
	Propagation metav1.DeletionPropagation
	// Unchanged refuses with a conflict if the object is no longer the version that the caller shows.
	Unchanged bool
}
