package loop

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
)

// Object is a pointer to a Kubernetes object.
type Object interface {
	comparable
	client.Object
}

// Handler calls handle for each change, with the object before it, nil if it is new, and after it, nil if it was removed.
// Where an object has replaced another of the same name, handle is called for the removal and for the new object.
func Handler[T Object](handle func(was, is T)) cache.ResourceEventHandler {
	var none T
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { handle(none, obj.(T)) },
		UpdateFunc: func(before, after any) {
			was, is := before.(T), after.(T)
			if was.GetUID() != is.GetUID() {
				handle(was, none)
				was = none
			}
			handle(was, is)
		},
		DeleteFunc: func(obj any) {
			if missed, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = missed.Obj
			}
			if was, ok := obj.(T); ok {
				handle(was, none)
			}
		},
	}
}

// Cached returns the cached object of a name, or nil.
func Cached[T Object](informer cache.SharedIndexInformer, key fmt.Stringer) T {
	var none T
	obj, found, err := informer.GetStore().GetByKey(key.String())
	if err != nil || !found {
		return none
	}
	return obj.(T)
}
