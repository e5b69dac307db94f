package remote

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/ptr"
)

const (
	// suffixLength is the number of random characters at the end of a generated name, and maxNameLength the name's
	// maximum length.
	suffixLength  = 5
	maxNameLength = 63
	// maxNames is how many generated names are tried.
	maxNames = 4
)

// Create generates names itself, not the API server. A create whose response is lost can then be repeated with the same
// name, so that it never makes two objects.
func (r *resource[T]) Create(ctx context.Context, obj T) (T, error) {
	if obj.GetName() != "" || obj.GetGenerateName() == "" {
		written, _, err := r.post(ctx, shortRetry, obj)
		return written, err
	}
	obj = obj.DeepCopyObject().(T)
	for tries := 1; ; tries++ {
		base := obj.GetGenerateName()
		obj.SetName(base[:min(len(base), maxNameLength-suffixLength)] + rand.String(suffixLength))
		written, err := r.createOnce(ctx, obj)
		if !apierrors.IsAlreadyExists(err) || tries == maxNames {
			return written, err
		}
	}
}

// createOnce creates an object with a random name. AlreadyExists means that another client has created an object of this
// name.
func (r *resource[T]) createOnce(ctx context.Context, obj T) (T, error) {
	written, unsure, err := r.post(ctx, shortRetry, obj)
	if unsure && isRetriable(err) {
		written, _, err = r.post(ctx, longRetry, obj)
	}
	if !unsure || err == nil {
		return written, err
	}
	stored, getErr := r.read(ctx, longRetry, obj.GetNamespace(), obj.GetName())
	if getErr == nil && sameCreator(stored, obj) {
		return stored, nil
	}
	if getErr != nil && !apierrors.IsNotFound(getErr) {
		return written, getErr
	}
	return written, err
}

func (r *resource[T]) post(ctx context.Context, p retryPolicy, obj T) (written T, unsure bool, err error) {
	return retry(ctx, p, func() (T, error) {
		return r.do(ctx, r.namespaced(r.writes.Post(), obj.GetNamespace()).Body(obj))
	})
}

// sameCreator reports whether this client made both objects of one random name, which two clients hardly ever generate.
func sameCreator(a, b metav1.Object) bool {
	return a.GetGenerateName() == b.GetGenerateName() && controllerOf(a) == controllerOf(b)
}

func controllerOf(o metav1.Object) types.UID {
	return ptr.Deref(metav1.GetControllerOfNoCopy(o), metav1.OwnerReference{}).UID
}
