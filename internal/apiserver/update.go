package apiserver

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
)

// change is an update by the server itself: a function that changes the newest state of an object.
type change struct {
	preconditions *metav1.Preconditions
	apply         func(ctx context.Context, obj runtime.Object) error
}

func updateOf(p *metav1.Preconditions, apply func(ctx context.Context, obj runtime.Object) error) rest.UpdatedObjectInfo {
	return change{preconditions: p, apply: apply}
}

func (c change) Preconditions() *metav1.Preconditions { return c.preconditions }

func (c change) UpdatedObject(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	obj := old.DeepCopyObject()
	return obj, c.apply(ctx, obj)
}
