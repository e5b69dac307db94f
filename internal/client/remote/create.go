package remote

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
)

const (
	// suffix is how many random characters make a generated name unique, and maxName the length of the longest one.
	suffix  = 5
	maxName = 63
	// names is how many generated names are tried.
	names = 4
)

// Create generates names here and not in the API server. A create whose answer is lost can then be repeated under the
// same name, so that there are never two objects where one was asked for.
func (r *resource[T]) Create(ctx context.Context, obj T) (T, error) {
	if obj.GetName() != "" || obj.GetGenerateName() == "" {
		written, _, err := r.create(ctx, obj)
		return written, err
	}
	obj = obj.DeepCopyObject().(T)
	for tries := 1; ; tries++ {
		base := obj.GetGenerateName()
		obj.SetName(base[:min(len(base), maxName-suffix)] + rand.String(suffix))
		written, unsure, err := r.create(ctx, obj)
		if !apierrors.IsAlreadyExists(err) {
			return written, err
		}
		if unsure {
			if stored, err := r.Get(ctx, obj.GetNamespace(), obj.GetName()); err == nil && sameMaker(stored, obj) {
				return stored, nil
			}
		}
		if tries == names {
			return written, err
		}
	}
}

func (r *resource[T]) create(ctx context.Context, obj T) (written T, unsure bool, err error) {
	written, err = persist(ctx, &unsure, func() (T, error) {
		return r.do(ctx, r.about(r.writes.Post(), obj.GetNamespace()).Body(obj))
	})
	return written, unsure, err
}

// sameMaker tells whether one who picked the name at random made both.
func sameMaker(a, b metav1.Object) bool {
	x, y := metav1.GetControllerOfNoCopy(a), metav1.GetControllerOfNoCopy(b)
	if x == nil || y == nil {
		return x == y && a.GetGenerateName() == b.GetGenerateName()
	}
	return x.UID == y.UID && a.GetGenerateName() == b.GetGenerateName()
}
