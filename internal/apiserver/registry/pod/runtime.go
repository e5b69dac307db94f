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

	"github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// ChooseRuntime sets the RuntimeClass of a new pod without one to that of the server where its Job was created, else to this
// server's. It is stored in the pod, so that a later server with another RuntimeClass does not run the pod in another way.
func (o Options) ChooseRuntime(pod *corev1.Pod) {
	class := cmp.Or(pod.Annotations[job.RuntimeClass], o.RuntimeClass)
	if o.Node != nil && pod.Spec.RuntimeClassName == nil && class != "" {
		pod.Spec.RuntimeClassName = &class
	}
}

// ApplyRuntimeClass sets the handler and the scheduling of a new pod's RuntimeClass in the pod. class is nil if the pod
// has none. The error is for the user who creates the pod.
func ApplyRuntimeClass(pod *corev1.Pod, class *nodev1.RuntimeClass) error {
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

// mergeTolerations merges two lists. It drops tolerations that another one covers, because the first toleration that
// matches a taint decides how long the pod tolerates it.
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

// covers reports whether wide tolerates all taints that narrow tolerates, for at least as long.
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

// nodeForPod returns the abilities of the node for a pod whose handler is set, or nil without a node.
func (o Options) nodeForPod(pod *corev1.Pod) *runtime.Info {
	return o.nodeFor(runtime.HandlerOf(pod))
}

// nodeForTemplate returns the abilities of the node for pods of a template, or nil without a node or if the RuntimeClass
// does not exist.
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

// classOf returns the RuntimeClass that pods of a template get.
func (o Options) classOf(s *corev1.PodSpec) string {
	return cmp.Or(ptr.Deref(s.RuntimeClassName, ""), o.RuntimeClass, runtime.ClassProcess)
}

// handlerOf returns the handler for pods of a template, or false if their RuntimeClass does not exist.
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

// warnMissingClass warns if the RuntimeClass of a template does not exist. The template is not refused, because the class
// may be created later, but its pods would be.
func (o Options) warnMissingClass(s *corev1.PodSpec, p *field.Path) []string {
	if _, ok := o.handlerOf(s); ok || o.Node == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s: there is no RuntimeClass %q, and no pod is made without it: choose oci (the image) or "+
		"process (this machine's programs), or make a RuntimeClass with one of these handlers", p, o.classOf(s))}
}

// DefaultRuntimeClassNames are the RuntimeClasses that always exist. Each has the handler of the same name.
var DefaultRuntimeClassNames = []string{runtime.ClassOCI, runtime.ClassProcess}
