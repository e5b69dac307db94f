package pod

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// ChooseRuntime settles the RuntimeClass of a new pod: a server with another one must not run it otherwise later.
func (o Options) ChooseRuntime(s *corev1.PodSpec) {
	if o.Node != nil && s.RuntimeClassName == nil && o.RuntimeClass != "" {
		s.RuntimeClassName = ptr.To(o.RuntimeClass)
	}
}

// SettleRuntime writes into a new pod what its RuntimeClass says; nil is for one that has none. The error is for the pod's
// author.
func SettleRuntime(pod *corev1.Pod, class *nodev1.RuntimeClass) error {
	delete(pod.Annotations, runtime.HandlerAnnotation)
	if class == nil {
		return nil
	}
	if class.Handler != class.Name {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, runtime.HandlerAnnotation, class.Handler)
	}
	if class.Scheduling == nil {
		return nil
	}
	s := &pod.Spec
	for key, value := range class.Scheduling.NodeSelector {
		if was, ok := s.NodeSelector[key]; ok && was != value {
			return fmt.Errorf("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s", key, value, key, was)
		}
		if s.NodeSelector == nil {
			s.NodeSelector = map[string]string{}
		}
		s.NodeSelector[key] = value
	}
	s.Tolerations = mergeTolerations(s.Tolerations, class.Scheduling.Tolerations)
	return nil
}

// mergeTolerations leaves out what another toleration covers: the first that matches a taint decides for how long.
func mergeTolerations(own, more []corev1.Toleration) []corev1.Toleration {
	all := slices.Concat(own, more)
	var merged []corev1.Toleration
	for i, t := range all {
		covered := slices.ContainsFunc(merged, func(other corev1.Toleration) bool { return covers(other, t) }) ||
			slices.ContainsFunc(all[i+1:], func(other corev1.Toleration) bool { return covers(other, t) && !covers(t, other) })
		if !covered {
			merged = append(merged, t)
		}
	}
	return merged
}

// covers reports whether wide tolerates all that narrow does, for as long.
func covers(wide, narrow corev1.Toleration) bool {
	everyKey := wide.Key == "" && wide.Operator == corev1.TolerationOpExists
	forever := wide.TolerationSeconds == nil
	switch {
	case apiequality.Semantic.DeepEqual(wide, narrow):
		return true
	case wide.Key != narrow.Key && !everyKey, wide.Effect != narrow.Effect && wide.Effect != "":
		return false
	case !forever && (narrow.TolerationSeconds == nil || *narrow.TolerationSeconds > *wide.TolerationSeconds):
		return false
	case wide.Operator == corev1.TolerationOpExists:
		return true
	}
	equal := corev1.TolerationOpEqual
	return cmp.Or(wide.Operator, equal) == equal && cmp.Or(narrow.Operator, equal) == equal && wide.Value == narrow.Value
}

// nodeForPod returns what the node can do for a pod whose runtime is settled; nil where there is no node to ask.
func (o Options) nodeForPod(pod *corev1.Pod) *runtime.Info {
	return o.nodeFor(runtime.HandlerOf(pod))
}

// nodeForTemplate returns what the node can do for pods of a template; nil where nothing is known of what would run them.
func (o Options) nodeForTemplate(s *corev1.PodSpec) *runtime.Info {
	if handler, ok := o.handlerOf(s); ok {
		return o.nodeFor(handler)
	}
	return nil
}

func (o Options) nodeFor(handler string) *runtime.Info {
	if o.Node == nil {
		return nil
	}
	return ptr.To(o.Node().Of(handler))
}

// classOf is the RuntimeClass that pods of a template get.
func (o Options) classOf(s *corev1.PodSpec) string {
	return cmp.Or(ptr.Deref(s.RuntimeClassName, ""), o.RuntimeClass, runtime.ClassProcess)
}

// handlerOf returns what would run pods of a template, unless their RuntimeClass is not there.
func (o Options) handlerOf(s *corev1.PodSpec) (string, bool) {
	class := o.classOf(s)
	if slices.Contains(DefaultRuntimeClassNames, class) {
		return class, true
	}
	if o.Handler == nil {
		return "", false
	}
	return o.Handler(class)
}

// warnMissingClass tells of pods that will be refused. Their template is not: the class may be made after it.
func (o Options) warnMissingClass(s *corev1.PodSpec, p *field.Path) []string {
	if _, ok := o.handlerOf(s); ok || o.Node == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s: there is no RuntimeClass %q, and no pod is made without it: choose oci (the image) or "+
		"process (this machine's programs), or make a RuntimeClass with one of these handlers", p, o.classOf(s))}
}

// DefaultRuntimeClassNames are always there. Each has the handler of its name.
var DefaultRuntimeClassNames = []string{runtime.ClassOCI, runtime.ClassProcess}
