package simulated

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
)

// Rules are what is particular to one kind. Functions may be nil.
type Rules[T client.Object] struct {
	Resource schema.GroupResource
	Kind     string
	// Default completes a new object before Validate looks at it.
	Default        func(T)
	Validate       func(T) field.ErrorList
	ValidateUpdate func(is, was T) field.ErrorList
	ValidateStatus func(is, was T) field.ErrorList
	// CopyStatus takes the status of one object over into another, CopySpec the spec.
	CopyStatus, CopySpec func(from, to T)
	// Wrote is told of every write, before the next one. An object that is new was nothing, one that is gone is nothing.
	Wrote func(was, is T)
}

// Table is all objects of one kind and everything that ever happened to them. Objects are never changed, only replaced.
type Table[T client.Object] struct {
	Rules   Rules[T]
	server  *Server
	objects map[string]T
	log     []change[T]
}

// change is one write.
type change[T client.Object] struct {
	version  int
	was, is  T
	old, new bool
}

// NewTable adds a table to a server.
func NewTable[T client.Object](s *Server, rules Rules[T]) *Table[T] {
	return &Table[T]{Rules: rules, server: s, objects: map[string]T{}}
}

func keyOf(namespace, name string) string { return namespace + "/" + name }

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
		return o, apierrors.NewNotFound(x.Rules.Resource, name)
	}
	return o, nil
}

// Create stores a new object.
func (x *Table[T]) Create(o T) (none T, err error) {
	if _, there := x.objects[keyOf(o.GetNamespace(), o.GetName())]; there {
		return none, apierrors.NewAlreadyExists(x.Rules.Resource, o.GetName())
	}
	o = stored(o)
	o.SetUID(x.server.uid(x.Rules.Kind))
	o.SetCreationTimestamp(now())
	o.SetGeneration(1)
	if x.Rules.Default != nil {
		x.Rules.Default(o)
	}
	if x.Rules.Validate != nil {
		if errs := x.Rules.Validate(o); len(errs) > 0 {
			return none, x.invalid(o, errs)
		}
	}
	x.put(none, o, false)
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
	x.Rules.CopyStatus(was, is)
	if x.Rules.ValidateUpdate != nil {
		if errs := x.Rules.ValidateUpdate(is, was); len(errs) > 0 {
			return none, x.invalid(is, errs)
		}
	}
	is.SetGeneration(was.GetGeneration() + 1)
	x.put(was, is, true)
	return is, nil
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
		return none, apierrors.NewConflict(x.Rules.Resource, o.GetName(),
			fmt.Errorf("%s of version %s is there", was.GetUID(), was.GetResourceVersion()))
	}
	is := was.DeepCopyObject().(T)
	x.Rules.CopyStatus(stored(o), is)
	if x.Rules.ValidateStatus != nil {
		if errs := x.Rules.ValidateStatus(is, was); len(errs) > 0 {
			return none, x.invalid(o, errs)
		}
	}
	if reflect.DeepEqual(is, was) {
		return was, nil
	}
	x.put(was, is, true)
	return is, nil
}

// Delete deletes an object, or begins to where it has finalizers.
func (x *Table[T]) Delete(namespace, name string, uid types.UID, o client.DeleteOptions) error {
	was, err := x.Get(namespace, name)
	if err != nil {
		return err
	}
	if uid != "" && was.GetUID() != uid {
		return apierrors.NewConflict(x.Rules.Resource, name, errors.New("the UID is "+string(was.GetUID())))
	}
	is := was.DeepCopyObject().(T)
	switch o.Propagation {
	case metav1.DeletePropagationForeground:
		is.SetFinalizers(append(is.GetFinalizers(), metav1.FinalizerDeleteDependents))
	case metav1.DeletePropagationOrphan:
		is.SetFinalizers(append(is.GetFinalizers(), metav1.FinalizerOrphanDependents))
	}
	if is.GetDeletionTimestamp() == nil {
		is.SetDeletionTimestamp(ptr.To(now()))
	}
	x.put(was, is, true)
	return nil
}

// put stores what becomes of an object. One that is being deleted goes with its last finalizer.
func (x *Table[T]) put(was, is T, old bool) {
	var none T
	version := x.server.next(is)
	key := keyOf(is.GetNamespace(), is.GetName())
	if is.GetDeletionTimestamp() != nil && len(is.GetFinalizers()) == 0 {
		delete(x.objects, key)
		x.log = append(x.log, change[T]{version: version, was: is, old: true})
		is = none
	} else {
		x.objects[key] = is
		x.log = append(x.log, change[T]{version, was, is, old, true})
	}
	if x.Rules.Wrote != nil {
		x.Rules.Wrote(was, is)
	}
}

func (x *Table[T]) invalid(o T, errs field.ErrorList) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: x.Rules.Resource.Group, Kind: x.Rules.Kind}, o.GetName(), errs)
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
