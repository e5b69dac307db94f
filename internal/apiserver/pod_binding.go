package apiserver

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
)

var podsResource = schema.GroupResource{Resource: "pods"}

// bindingREST serves pods/binding, by which a scheduler assigns a pod to a node.
type bindingREST struct{ pods *genericregistry.Store }

func (*bindingREST) New() runtime.Object { return &corev1.Binding{} }

// Destroy does nothing: the store belongs to the pods.
func (*bindingREST) Destroy() {}

func (*bindingREST) NamespaceScoped() bool { return true }

// Create implements rest.NamedCreater.
func (r *bindingREST) Create(ctx context.Context, name string, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	binding, ok := obj.(*corev1.Binding)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a Binding: %T", obj))
	}
	if err := checkBinding(name, binding); err != nil {
		return nil, err
	}
	if validate != nil {
		if err := validate(ctx, binding.DeepCopy()); err != nil {
			return nil, err
		}
	}
	info := updateOf(bindingPreconditions(binding), func(_ context.Context, obj runtime.Object) error {
		return bind(obj.(*corev1.Pod), binding)
	})
	bound := *r.pods
	bound.UpdateStrategy = bindStrategy{r.pods.UpdateStrategy.(strategy)}
	if _, _, err := bound.Update(ctx, name, info, nil, nil, false, &metav1.UpdateOptions{DryRun: options.DryRun}); err != nil {
		return nil, err
	}
	return &metav1.Status{Status: metav1.StatusSuccess, Code: 201}, nil
}

func bindingPreconditions(b *corev1.Binding) *metav1.Preconditions {
	p := &metav1.Preconditions{}
	if b.UID != "" {
		p.UID = &b.UID
	}
	if b.ResourceVersion != "" {
		p.ResourceVersion = &b.ResourceVersion
	}
	return p
}

func checkBinding(name string, b *corev1.Binding) error {
	var errs field.ErrorList
	if b.Name != "" && b.Name != name {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), b.Name, "must be the name of the pod in the URL"))
	}
	target := field.NewPath("target")
	if b.Target.Kind != "" && b.Target.Kind != "Node" {
		errs = append(errs, field.NotSupported(target.Child("kind"), b.Target.Kind, []string{"Node", "<empty>"}))
	}
	if b.Target.Name == "" {
		errs = append(errs, field.Required(target.Child("name"), "name the node that the pod is to run on"))
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Binding"}, name, errs)
	}
	return nil
}

func bind(pod *corev1.Pod, b *corev1.Binding) error {
	switch {
	case pod.DeletionTimestamp != nil:
		return apierrors.NewConflict(podsResource, pod.Name, fmt.Errorf("the pod is being deleted and cannot be assigned to a node"))
	case pod.Spec.NodeName != "":
		return apierrors.NewConflict(podsResource, pod.Name, fmt.Errorf("the pod is already assigned to node %q", pod.Spec.NodeName))
	case len(pod.Spec.SchedulingGates) > 0:
		return apierrors.NewConflict(podsResource, pod.Name, fmt.Errorf("the pod has scheduling gates and cannot be assigned to a node before they are removed"))
	}
	pod.Spec.NodeName = b.Target.Name
	for k, v := range b.Annotations {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, k, v)
	}
	setPodCondition(pod, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue})
	return nil
}

// setPodCondition sets the condition of this type. Its transition time changes only if its status changes.
func setPodCondition(pod *corev1.Pod, c corev1.PodCondition) {
	c.LastTransitionTime = metav1.Now()
	c.ObservedGeneration = pod.Generation
	for i, old := range pod.Status.Conditions {
		if old.Type != c.Type {
			continue
		}
		if old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		pod.Status.Conditions[i] = c
		return
	}
	pod.Status.Conditions = append(pod.Status.Conditions, c)
}

// bindStrategy writes a pod without validation. Its callers change only nodeName, annotations and conditions.
type bindStrategy struct{ strategy }

func (bindStrategy) PrepareForUpdate(context.Context, runtime.Object, runtime.Object) {}

func (bindStrategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}

// pluralBindingREST serves POST …/bindings. The name of the pod is that of the binding, not in the URL.
type pluralBindingREST struct{ binding *bindingREST }

func (pluralBindingREST) New() runtime.Object { return &corev1.Binding{} }

// Destroy does nothing: the store belongs to the pods.
func (pluralBindingREST) Destroy() {}

func (pluralBindingREST) NamespaceScoped() bool { return true }

func (pluralBindingREST) GetSingularName() string { return "binding" }

// Create implements rest.Creater.
func (r pluralBindingREST) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	binding, ok := obj.(*corev1.Binding)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a Binding: %T", obj))
	}
	return r.binding.Create(ctx, binding.Name, obj, validate, options)
}

// podStatusStrategy lets the node in this process bind a pod and report its status in one write: a status update may set
// spec.nodeName if it is empty. HTTP clients may not do this.
type podStatusStrategy struct{ statusStrategy }

func (s podStatusStrategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	pod, stored := obj.(*corev1.Pod), old.(*corev1.Pod)
	node := pod.Spec.NodeName
	s.statusStrategy.PrepareForUpdate(ctx, obj, old)
	if stored.Spec.NodeName == "" && len(stored.Spec.SchedulingGates) == 0 {
		pod.Spec.NodeName = node
	}
}
