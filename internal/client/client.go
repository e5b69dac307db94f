// Package client is the interface through which controllers and the node use an API server.
//
// There are two implementations: internal/apiserver/inprocess calls the registry of the API server in this process, and
// client/remote talks to any Kubernetes cluster through client-go. test/clienttest tests both for the same behavior.
// A controller uses only this package, so it does not depend on where it runs.
package client

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
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
	PersistentVolumes() Resource[*corev1.PersistentVolume]
	PersistentVolumeClaims() Resource[*corev1.PersistentVolumeClaim]
	StorageClasses() Resource[*storagev1.StorageClass]
	Services() Resource[*corev1.Service]
	EndpointSlices() Resource[*discoveryv1.EndpointSlice]
	// Kinds lists every kind that can be an owner or a dependent, for controllers that treat all kinds alike.
	Kinds() []Kind
	// Events is the sink of an event broadcaster (client-go's record package).
	Events() record.EventSink
}

// Resource reads and writes the objects of one kind in all namespaces.
//
// Objects that Get, an informer or a write returns may be shared with the cache: never change them, DeepCopy first.
type Resource[T Object] interface {
	// Informer returns the one shared informer of this kind. The owner of the connection starts it, after the
	// controllers have added their handlers. Its objects, and those that writes return, may lack fields that no controller
	// reads (on a cluster, and all but the metadata of ResultSlices): change them with Modify, and never write them as a whole.
	Informer() cache.SharedIndexInformer

	// Get reads the newest state. Namespace is empty for cluster-scoped kinds.
	Get(ctx context.Context, namespace, name string) (T, error)

	// List reads the live objects in namespace that selector matches, past the cache, and calls each for every one. Later
	// changes of objects of this kind have a newer resource version than the returned one.
	List(ctx context.Context, namespace string, selector labels.Selector, each func(T)) (version string, err error)

	Create(ctx context.Context, obj T) (T, error)

	// UpdateStatus replaces the status of obj; it fails with a conflict if obj is not the newest version.
	UpdateStatus(ctx context.Context, obj T) (T, error)

	// Modify applies change to a copy of observed and writes only the difference, so that other writes to the object
	// since observed are kept. It writes metadata and spec, not the status. change must add and remove single entries of
	// lists and maps and leave the others alone: it may be called more than once, with observed or with a newer version.
	// The error is NotFound if the object is gone or if another object (other UID) has its name.
	Modify(ctx context.Context, observed T, change func(T)) (T, error)

	// ModifyStatus is Modify for the status. In process it may also set a pod's spec.nodeName if that is empty, so that a
	// node can bind a pod and report it running in one write.
	ModifyStatus(ctx context.Context, observed T, change func(T)) (T, error)

	// Delete deletes the object with obj's namespace and name. obj's UID is a precondition.
	Delete(ctx context.Context, obj T, opts DeleteOptions) error
}

// Kind reads and writes the objects of one kind without its Go type, for the garbage collector and the namespace
// controller.
type Kind struct {
	schema.GroupVersionKind
	Namespaced bool
	Resource[Object]
}

// DeleteOptions are the options of a deletion. The zero value is the server's default.
type DeleteOptions struct {
	// GracePeriodSeconds overrides the object's own grace period, unless it is nil.
	GracePeriodSeconds *int64
	// Propagation decides whether dependents are deleted or orphaned; empty is the server's default.
	Propagation metav1.DeletionPropagation
	// LastFinalizer is removed with the object, in one write. If it is not the only finalizer, the deletion fails with a
	// conflict. Only a client in process can do this.
	LastFinalizer string
	// Unchanged makes the deletion fail with a conflict if the object's resource version is not obj's.
	Unchanged bool
}
