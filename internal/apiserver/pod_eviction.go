package apiserver

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/stint-dev/stint/internal/podstatus"
)

// evictionReason and evictionMessage are those of an evicted pod's condition DisruptionTarget, as in Kubernetes.
const (
	evictionReason  = "EvictionByEvictionAPI"
	evictionMessage = "Eviction API: evicting"
)

// evictionREST serves pods/eviction: a deletion that first sets the condition DisruptionTarget, so that a pod failure
// policy can ignore the failure. It checks no disruption budgets, because this server does not have them.
type evictionREST struct{ pods *genericregistry.Store }

func (*evictionREST) New() runtime.Object { return &policyv1.Eviction{} }

// Destroy does nothing: the store belongs to the pods.
func (*evictionREST) Destroy() {}

func (*evictionREST) NamespaceScoped() bool { return true }

// GroupVersionKind implements rest.GroupVersionKindProvider, because the kind is in another group than pods.
func (*evictionREST) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return policyv1.SchemeGroupVersion.WithKind("Eviction")
}

// AcceptsGroupVersion implements rest.GroupVersionAcceptor.
func (*evictionREST) AcceptsGroupVersion(gv schema.GroupVersion) bool {
	return gv == policyv1.SchemeGroupVersion
}

// Create implements rest.NamedCreater.
func (r *evictionREST) Create(ctx context.Context, name string, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	eviction, ok := obj.(*policyv1.Eviction)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not an Eviction: %T", obj))
	}
	if eviction.Name != "" && eviction.Name != name {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the name of the eviction (%s) must be the name of the pod in the URL (%s)", eviction.Name, name))
	}
	if validate != nil {
		if err := validate(ctx, eviction.DeepCopy()); err != nil {
			return nil, err
		}
	}
	deletion := eviction.DeleteOptions
	if deletion == nil {
		deletion = &metav1.DeleteOptions{}
	}
	deletion.DryRun = append(deletion.DryRun, options.DryRun...)
	if err := r.markDisrupted(ctx, name, deletion); err != nil {
		return nil, err
	}
	if _, _, err := r.pods.Delete(ctx, name, rest.ValidateAllObjectFunc, deletion); err != nil {
		return nil, err
	}
	return &metav1.Status{Status: metav1.StatusSuccess, Code: 201}, nil
}

func (r *evictionREST) markDisrupted(ctx context.Context, name string, deletion *metav1.DeleteOptions) error {
	info := updateOf(deletion.Preconditions, func(_ context.Context, obj runtime.Object) error {
		pod := obj.(*corev1.Pod)
		if podstatus.IsTerminated(pod) || pod.DeletionTimestamp != nil {
			return nil
		}
		setPodCondition(pod, corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: evictionReason, Message: evictionMessage,
		})
		return nil
	})
	marked := *r.pods
	marked.UpdateStrategy = bindStrategy{r.pods.UpdateStrategy.(strategy)}
	_, _, err := marked.Update(ctx, name, info, nil, nil, false, &metav1.UpdateOptions{DryRun: deletion.DryRun})
	if err == nil && deletion.Preconditions != nil {
		// Setting the condition has changed the resource version.
		deletion.Preconditions.ResourceVersion = nil
	}
	return err
}
