package model_test

import (
	"maps"
	"slices"

	"github.com/stint-dev/stint/internal/client"
)

// table is all objects of one kind, by name, and everything that ever happened to them. Objects are never changed, only
// replaced.
type table[T client.Object] struct {
	objects map[string]T
	log     []change[T]
}

// change is one write. Was is the zero value for a new object, is for one that is gone.
type change[T client.Object] struct {
	version  int
	was, is  T
	old, new bool
}

func newTable[T client.Object]() *table[T] { return &table[T]{objects: map[string]T{}} }

func (x *table[T]) names() []string { return slices.Sorted(maps.Keys(x.objects)) }

func (x *table[T]) each(do func(T)) {
	for _, name := range x.names() {
		if o, there := x.objects[name]; there {
			do(o)
		}
	}
}

// put stores a version that has its resource version already.
func (x *table[T]) put(version int, o T) {
	was, old := x.objects[o.GetName()]
	x.objects[o.GetName()] = o
	x.log = append(x.log, change[T]{version, was, o, old, true})
}

func (x *table[T]) drop(version int, o T) {
	delete(x.objects, o.GetName())
	x.log = append(x.log, change[T]{version: version, was: o, old: true})
}

// upTo is how many changes there were up to a version.
func (x *table[T]) upTo(version int) int {
	return len(slices.DeleteFunc(slices.Clone(x.log), func(c change[T]) bool { return c.version > version }))
}
