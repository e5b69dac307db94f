package simulated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/client"
)

// Table is all objects of one kind and everything that ever happened to them. Objects are never changed, only replaced.
// The rules of the kind are those of the real server.
type Table[T client.Object] struct {
	// Wrote is called after every write, before the next one. Was is nil for an object that is new, is for one that is gone.
	Wrote func(was, is T)
	// Unlimited is set where no quota counts the objects: the fault Quota does not happen to them.
	Unlimited bool

	kind   kinds.Resource
	server *Server
	// offset is added to the server's version in objects of this kind: kinds may be stored apart, so versions of
	// different kinds must not be compared.
	offset  int
	objects map[string]T
	log     []change[T]
}

// change is one write.
type change[T client.Object] struct {
	version int
	was, is T
	// new is set where there is an object after the write.
	new bool
}

// NewTable adds a table to a server.
func NewTable[T client.Object](s *Server, kind kinds.Resource) *Table[T] {
	s.tables++
	return &Table[T]{kind: kind, server: s, offset: s.tables * 1_000_000, objects: map[string]T{}}
}

// text is how objects show a version.
func (x *Table[T]) text(version int) string { return strconv.Itoa(x.offset + version) }

// keyOf is the key of an object, also in caches.
func keyOf(namespace, name string) string {
	return cache.ObjectName{Namespace: namespace, Name: name}.String()
}

// All returns the objects in the order of their names.
func (x *Table[T]) All() []T {
	var all []T
	for _, key := range slices.Sorted(maps.Keys(x.objects)) {
		all = append(all, x.objects[key])
	}
	return all
}

// Get returns an object, or NotFound.
func (x *Table[T]) Get(namespace, name string) (T, error) {
	o, there := x.objects[keyOf(namespace, name)]
	if !there {
		return o, apierrors.NewNotFound(x.resource(), name)
	}
	return o, nil
}

// Find returns an object, or nil.
func (x *Table[T]) Find(namespace, name string) T { return x.objects[keyOf(namespace, name)] }

// Since is how many changes there were after a version.
func (x *Table[T]) Since(version int) (n int) {
	for ; n < len(x.log) && x.log[len(x.log)-1-n].version > version; n++ {
	}
	return n
}

// Create stores a new object.
func (x *Table[T]) Create(o T) (none T, err error) {
	o = stored(o)
	o.SetUID(x.server.uid(x.kind.Singular))
	if o.GetName() == "" {
		o.SetName(o.GetGenerateName() + strconv.Itoa(x.server.made))
	}
	if _, there := x.objects[keyOf(o.GetNamespace(), o.GetName())]; there {
		return none, apierrors.NewAlreadyExists(x.resource(), o.GetName())
	}
	o.SetCreationTimestamp(Now())
	if x.kind.Default != nil {
		x.kind.Default(o)
	}
	if x.kind.PrepareForCreate != nil {
		x.kind.PrepareForCreate(context.Background(), o)
	}
	if x.kind.Validate != nil {
		if err := x.invalid(o, x.kind.Validate(context.Background(), o)); err != nil {
			return none, err
		}
	}
	x.put(none, o)
	return o, nil
}

// Update changes all but the status, as a user does.
func (x *Table[T]) Update(namespace, name string, edit func(T)) (none T, err error) {
	was, err := x.Get(namespace, name)
	if err != nil {
		return none, err
	}
	is := was.DeepCopyObject().(T)
	edit(is)
	is = stored(is)
	if x.kind.PrepareForUpdate != nil {
		x.kind.PrepareForUpdate(context.Background(), is, was)
	}
	errs := validation.ValidateObjectMetaAccessorUpdate(is, was, field.NewPath("metadata"))
	if x.kind.ValidateUpdate != nil {
		errs = append(errs, x.kind.ValidateUpdate(context.Background(), is, was)...)
	}
	if err := x.invalid(is, errs); err != nil {
		return none, err
	}
	x.put(was, is)
	if _, there := x.objects[keyOf(namespace, name)]; !there {
		// The change removed the object, so that it got no new version.
		is = is.DeepCopyObject().(T)
		is.SetResourceVersion(was.GetResourceVersion())
	}
	return is, nil
}

// Change changes any field of an object, as all other parts of a cluster together may. The rules of the kind are not
// checked.
func (x *Table[T]) Change(was T, edit func(T)) {
	is := was.DeepCopyObject().(T)
	edit(is)
	x.put(was, is)
}

// EditStatus changes the newest status, as a user or a node does.
func (x *Table[T]) EditStatus(namespace, name string, edit func(T)) (none T, err error) {
	was, err := x.Get(namespace, name)
	if err != nil {
		return none, err
	}
	is := was.DeepCopyObject().(T)
	edit(is)
	return x.UpdateStatus(is)
}

// UpdateStatus replaces the status, if o is the newest version.
func (x *Table[T]) UpdateStatus(o T) (none T, err error) {
	was, err := x.Get(o.GetNamespace(), o.GetName())
	if err != nil {
		return none, err
	}
	if was.GetUID() != o.GetUID() || was.GetResourceVersion() != o.GetResourceVersion() {
		return none, apierrors.NewConflict(x.resource(), o.GetName(),
			fmt.Errorf("%s of version %s is there", was.GetUID(), was.GetResourceVersion()))
	}
	is := stored(o)
	reflect.ValueOf(is).Elem().FieldByName("ObjectMeta").Set(reflect.ValueOf(was.DeepCopyObject()).Elem().FieldByName("ObjectMeta"))
	x.kind.Status.PrepareForUpdate(context.Background(), is, was)
	if x.kind.Status.ValidateUpdate != nil {
		if err := x.invalid(is, x.kind.Status.ValidateUpdate(context.Background(), is, was)); err != nil {
			return none, err
		}
	}
	if equality.Semantic.DeepEqual(is, was) {
		return was, nil
	}
	x.put(was, is)
	return is, nil
}

// Delete deletes an object. One with finalizers or a grace period is only marked as being deleted.
func (x *Table[T]) Delete(namespace, name string, uid types.UID, o client.DeleteOptions) error {
	was, err := x.Get(namespace, name)
	if err != nil {
		return err
	}
	if uid != "" && was.GetUID() != uid {
		return apierrors.NewConflict(x.resource(), name, errors.New("the UID is "+string(was.GetUID())))
	}
	if o.LastFinalizer != "" {
		return x.deleteFinalized(was, o.LastFinalizer)
	}
	is := was.DeepCopyObject().(T)
	switch o.Propagation {
	case metav1.DeletePropagationForeground:
		is.SetFinalizers(append(is.GetFinalizers(), metav1.FinalizerDeleteDependents))
	case metav1.DeletePropagationOrphan:
		is.SetFinalizers(append(is.GetFinalizers(), metav1.FinalizerOrphanDependents))
	}
	seconds := x.grace(is, o.GracePeriodSeconds)
	if was.GetDeletionTimestamp() == nil || seconds < ptr.Deref(was.GetDeletionGracePeriodSeconds(), 0) {
		is.SetDeletionTimestamp(ptr.To(metav1.NewTime(Now().Add(time.Duration(seconds) * time.Second))))
		is.SetDeletionGracePeriodSeconds(&seconds)
	}
	if !equality.Semantic.DeepEqual(is, was) {
		x.put(was, is)
	}
	return nil
}

// deleteFinalized removes an object whose only finalizer is this one. As on a real server, watches then show the object with
// it and without a deletion timestamp.
func (x *Table[T]) deleteFinalized(was T, finalizer string) error {
	if !slices.Equal(was.GetFinalizers(), []string{finalizer}) {
		return apierrors.NewConflict(x.resource(), was.GetName(), fmt.Errorf("its finalizers are %v", was.GetFinalizers()))
	}
	x.server.version++
	x.remove(was, was.DeepCopyObject().(T))
	return nil
}

// remove removes an object. Watches show last, its last state.
func (x *Table[T]) remove(was, last T) {
	var none T
	last.SetResourceVersion(x.text(x.server.version))
	delete(x.objects, keyOf(last.GetNamespace(), last.GetName()))
	x.log = append(x.log, change[T]{version: x.server.version, was: last})
	if x.Wrote != nil {
		x.Wrote(was, none)
	}
}

// grace is how many seconds an object has to end before it is removed.
func (x *Table[T]) grace(o T, asked *int64) int64 {
	if x.kind.CheckGracefulDelete == nil {
		return 0
	}
	options := metav1.DeleteOptions{GracePeriodSeconds: asked}
	x.kind.CheckGracefulDelete(context.Background(), o, &options)
	return *options.GracePeriodSeconds
}

// put stores the new state of an object. An object that is being deleted is removed once it has no finalizer and no
// grace period left.
func (x *Table[T]) put(was, is T) {
	x.server.version++
	if is.GetDeletionTimestamp() != nil && len(is.GetFinalizers()) == 0 && ptr.Deref(is.GetDeletionGracePeriodSeconds(), 0) == 0 {
		x.remove(was, is)
		return
	}
	is.SetResourceVersion(x.text(x.server.version))
	x.objects[keyOf(is.GetNamespace(), is.GetName())] = is
	x.log = append(x.log, change[T]{x.server.version, was, is, true})
	if x.Wrote != nil {
		x.Wrote(was, is)
	}
}

func (x *Table[T]) resource() schema.GroupResource {
	return x.kind.Version.WithResource(x.kind.Plural).GroupResource()
}

func (x *Table[T]) invalid(o T, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(x.kind.Version.WithKind(x.kind.Kind).GroupKind(), o.GetName(), errs)
}

// stored returns o as it is after storing: times, for one, have no fractions of seconds.
func stored[T client.Object](o T) T {
	text, err := json.Marshal(o)
	out := reflect.New(reflect.TypeOf(o).Elem()).Interface().(T)
	if err == nil {
		err = json.Unmarshal(text, out)
	}
	if err != nil {
		panic(fmt.Sprintf("%T cannot be stored: %v", o, err))
	}
	return out
}

// VersionOf is the version of an object as a number.
func VersionOf(o metav1.Object) int {
	n, _ := strconv.Atoi(o.GetResourceVersion())
	return n
}
