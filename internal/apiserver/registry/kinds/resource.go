// Package kinds says what the API server must know about a kind in order to serve it (Resource), and holds what the
// tables of several kinds have in common. It knows none of the kinds.
package kinds

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Resource describes one kind. The functions get pointers to the published API type (*batchv1.Job …).
// Nil functions do nothing.
type Resource struct {
	// Version is the group and version that is served and stored.
	Version schema.GroupVersion
	// OlderVersions are those of the same group that it is served in too.
	OlderVersions []schema.GroupVersion

	Kind     string
	Plural   string
	Singular string
	// ShortNames and Categories as in `kubectl api-resources`.
	ShortNames []string
	Categories []string
	// ClusterScoped kinds have no namespace.
	ClusterScoped bool

	New     func() runtime.Object
	NewList func() runtime.Object

	// Default fills in what the client left out. It runs whenever an object is decoded from a request.
	// It gets the whole object and must be idempotent.
	Default func(obj runtime.Object)

	// PrepareForCreate normalises a new object before validation: drops its status, generates what depends on its UID.
	PrepareForCreate func(ctx context.Context, obj runtime.Object)
	Validate         func(ctx context.Context, obj runtime.Object) field.ErrorList
	WarningsOnCreate func(ctx context.Context, obj runtime.Object) []string

	// PrepareForUpdate restores what an update may not touch (status) and counts the generation up where spec changed.
	PrepareForUpdate func(ctx context.Context, obj, old runtime.Object)
	ValidateUpdate   func(ctx context.Context, obj, old runtime.Object) field.ErrorList
	WarningsOnUpdate func(ctx context.Context, obj, old runtime.Object) []string

	// Status, where set, makes the /status subresource.
	Status *StatusStrategy

	// NameValidation returns what is wrong with a name; nil allows DNS subdomains.
	NameValidation func(name string, prefix bool) []string

	// SelectableFields returns the field labels that this kind has beside metadata.name and metadata.namespace.
	SelectableFields func(obj runtime.Object) fields.Set
	// SelectableFieldNames lists the same names, for the check of a request's field selector.
	SelectableFieldNames []string

	// CheckGracefulDelete, where set, makes deletion graceful: it sets options.GracePeriodSeconds where the request
	// names none and reports whether the object stays until something deletes it with a grace period of 0.
	CheckGracefulDelete func(ctx context.Context, obj runtime.Object, options *metav1.DeleteOptions) bool
	// DefaultPropagation is what becomes of dependents when the request does not say; empty is Background.
	DefaultPropagation metav1.DeletionPropagation

	// Columns and Row make `kubectl get` tables. Row returns one cell a column.
	Columns []metav1.TableColumnDefinition
	Row     func(obj runtime.Object, now time.Time) []any

	// TTL, where set, is after how long an object goes by itself.
	TTL time.Duration
}

// Versions are all that it is served in.
func (r Resource) Versions() []schema.GroupVersion {
	return append([]schema.GroupVersion{r.Version}, r.OlderVersions...)
}

// StatusStrategy describes updates of a status through /status.
type StatusStrategy struct {
	// PrepareForUpdate restores everything but the status.
	PrepareForUpdate func(ctx context.Context, obj, old runtime.Object)
	ValidateUpdate   func(ctx context.Context, obj, old runtime.Object) field.ErrorList
	// ResetFields names what of the metadata PrepareForUpdate restores: nobody comes to own it by sending it.
	ResetFields []string
}
