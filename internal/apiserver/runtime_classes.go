package apiserver

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"

	podregistry "github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

var runtimeClassesResource = nodev1.Resource("runtimeclasses")

// runtimeClasses applies RuntimeClasses to new pods.
type runtimeClasses struct {
	options podregistry.Options
	store   *genericregistry.Store
	// ctx ends with the server.
	ctx context.Context
}

// get reads a class from the cache or, if the cache does not have it yet, from the store. It returns nil if there is
// none.
func (c *runtimeClasses) get(ctx context.Context, name string) (*nodev1.RuntimeClass, error) {
	obj, err := c.store.Get(clusterWide(ctx), name, &metav1.GetOptions{ResourceVersion: "0"})
	if apierrors.IsNotFound(err) {
		obj, err = c.store.Get(clusterWide(ctx), name, &metav1.GetOptions{})
	}
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return obj.(*nodev1.RuntimeClass), nil
}

func clusterWide(ctx context.Context) context.Context {
	return genericapirequest.WithNamespace(ctx, metav1.NamespaceNone)
}

// handler returns the handler of a class, for the field Handler of the registry's Options.
func (c *runtimeClasses) handler(name string) (string, bool) {
	class, err := c.get(c.ctx, name)
	if err != nil || class == nil {
		return "", false
	}
	return class.Handler, true
}

// admit is the store's BeginCreate hook, which is called for every new pod.
func (c *runtimeClasses) admit(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
	pod := obj.(*corev1.Pod)
	c.options.ChooseRuntime(pod)
	class, err := c.classOf(ctx, pod)
	if err == nil {
		err = podregistry.ApplyRuntimeClass(pod, class)
	}
	if err != nil {
		return nil, apierrors.NewForbidden(podsResource, pod.Name, fmt.Errorf("pod rejected: %w", err))
	}
	return func(context.Context, bool) {}, nil
}

// classOf returns the class that the pod names, or nil if it names none. It also returns nil for an invalid name:
// validation reports that.
func (c *runtimeClasses) classOf(ctx context.Context, pod *corev1.Pod) (*nodev1.RuntimeClass, error) {
	name := pod.Spec.RuntimeClassName
	if name == nil || len(validation.IsDNS1123Subdomain(*name)) > 0 {
		return nil, nil
	}
	class, err := c.get(ctx, *name)
	if err == nil && class == nil {
		err = fmt.Errorf("RuntimeClass %q not found", *name)
	}
	return class, err
}
