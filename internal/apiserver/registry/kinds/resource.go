// Package kinds has the type by which a kind is described to the API server (Resource), and the columns that the tables of
// several kinds share. It does not depend on any kind.
package kinds

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Resource describes one kind. Its functions get pointers to the published API type, such as *batchv1.Job. A function that
// is nil does nothing.
type Resource struct {
	// Version is the group and version that is served and stored.
	Version schema.GroupVersion
	// OlderVersions are other versions of the same group in which the kind is served.
	OlderVersions []schema.GroupVersion

	Kind     string
	Plural   string
	Singular string
	// ShortNames and Categories are those that `kubectl api-resources` shows.
	ShortNames []string
	Categories []string
	// ClusterScoped is true if the objects have no namespace.
	ClusterScoped bool

	New     func() runtime.Object
	NewList func() runtime.Object

	// Default sets the defaults of fields that the client left out. It is called for every object decoded from a request or
	// from storage. It gets the whole object and must be idempotent.
	Default func(obj runtime.Object)

	// PrepareForCreate changes a new object before validation: it drops the status and generates what depends on the UID.
	PrepareForCreate func(ctx context.Context, obj runtime.Object)
	Validate         func(ctx context.Context, obj runtime.Object) field.ErrorList
	WarningsOnCreate func(ctx context.Context, obj runtime.Object) []string

	// PrepareForUpdate restores the fields that an update may not change (status), and increases the generation if the spec
	// has changed.
	PrepareForUpdate func(ctx context.Context, obj, old runtime.Object)
	ValidateUpdate   func(ctx context.Context, obj, old runtime.Object) field.ErrorList
	WarningsOnUpdate func(ctx context.Context, obj, old runtime.Object) []string

	// Status describes the /status subresource, if it is not nil.
	Status *Part
	// EphemeralContainers describes /ephemeralcontainers, which only pods have.
	EphemeralContainers *Part

	// NameValidation returns the faults of a name. If it is nil, names must be DNS subdomains.
	NameValidation func(name string, prefix bool) []string

	// SelectableFields are the fields for field selectors, in addition to metadata.name and metadata.namespace. Field
	// selectors with other names are refused.
	SelectableFields []SelectableField

	// CheckGracefulDelete makes deletions graceful, if it is not nil. It sets options.GracePeriodSeconds if the request
	// does not, and reports whether the object stays until a client deletes it with a grace period of 0.
	CheckGracefulDelete func(ctx context.Context, obj runtime.Object, options *metav1.DeleteOptions) bool
	// DefaultPropagation is the propagation policy of requests without one; empty means Background.
	DefaultPropagation metav1.DeletionPropagation

	// Columns and Row make the tables for `kubectl get`. Row returns one cell for each column.
	Columns []metav1.TableColumnDefinition
	Row     func(obj runtime.Object, now time.Time) []any

	// TTL is the time after which an object expires, sooner if there are many; 0 means never.
	TTL time.Duration
	// Uncached objects are not kept in memory, and informers in the server's process have only their metadata: few read
	// them, and there may be many.
	Uncached bool
}

// Versions returns all versions in which the kind is served.
func (r Resource) Versions() []schema.GroupVersion {
	return append([]schema.GroupVersion{r.Version}, r.OlderVersions...)
}

// Part describes updates of a part of an object through a subresource.
type Part struct {
	// PrepareForUpdate restores everything else.
	PrepareForUpdate func(ctx context.Context, obj, old runtime.Object)
	ValidateUpdate   func(ctx context.Context, obj, old runtime.Object) field.ErrorList
	// WarningsOnUpdate is not called for a status, which clients that read no warnings write.
	WarningsOnUpdate func(ctx context.Context, obj, old runtime.Object) []string
	// ResetFields are the metadata fields that the PrepareForUpdate of a status restores. A server-side apply never owns them.
	ResetFields []string
}
