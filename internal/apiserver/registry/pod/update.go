package pod

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// validateUpdate validates an update, which may change only a few fields of the spec. A spec that does not change is not
// validated again, because most updates only remove a finalizer.
func validateUpdate(pod, old *corev1.Pod) field.ErrorList {
	errs := validateAnnotationUpdate(pod, old)
	errs = append(errs, validateIndexUpdate(pod, old)...)
	if pod.Generation == old.Generation {
		return errs // prepareForUpdate has found no change of the spec
	}
	p := field.NewPath("spec")
	now, was := &pod.Spec, &old.Spec
	errs = append(errs, validateSpec(now, p)...)
	errs = append(errs, validateImages(now, p)...)
	for _, list := range []struct {
		field    string
		new, old []corev1.Container
	}{{"containers", now.Containers, was.Containers}, {"initContainers", now.InitContainers, was.InitContainers}} {
		if len(list.new) != len(list.old) {
			return append(errs, field.Forbidden(p.Child(list.field), "pod updates may not add or remove containers"))
		}
	}
	late := validateDeadlineUpdate(now, was, p.Child("activeDeadlineSeconds"))
	errs = append(errs, late...)
	if len(late) > 0 && now.ActiveDeadlineSeconds != nil {
		return errs // Kubernetes too skips the rest
	}
	errs = append(errs, validateTolerationUpdate(now.Tolerations, was.Tolerations, p.Child("tolerations"))...)
	errs = append(errs, validateGateUpdate(now.SchedulingGates, was.SchedulingGates, p.Child("schedulingGates"))...)
	return append(errs, validateRestOfUpdate(now, was, p)...)
}

// validateAnnotationUpdate validates annotations, and refuses changes of those that the node has already used.
func validateAnnotationUpdate(pod, old *corev1.Pod) field.ErrorList {
	if maps.Equal(pod.Annotations, old.Annotations) {
		return nil
	}
	p := field.NewPath("metadata", "annotations")
	errs := validateAnnotations(pod.Annotations, &pod.Spec, p)
	keep := func(key string) {
		now, is := pod.Annotations[key]
		was, had := old.Annotations[key]
		final := key == corev1.MirrorPodAnnotationKey || key == runtime.HandlerAnnotation || strings.HasPrefix(key, corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix)
		if final && (now != was || is != had) {
			errs = append(errs, field.Forbidden(p.Key(key), "may not be added, changed or removed"))
		}
	}
	for key := range old.Annotations {
		keep(key)
	}
	for key := range pod.Annotations {
		if _, had := old.Annotations[key]; !had {
			keep(key)
		}
	}
	return errs
}

// validateIndexUpdate refuses changes of the completion index of a Job's pod, because its containers were started with
// it. Kubernetes allows them, and then counts an index that the pod has not processed.
func validateIndexUpdate(pod, old *corev1.Pod) field.ErrorList {
	const key = batchv1.JobCompletionIndexAnnotation
	owner := metav1.GetControllerOfNoCopy(old)
	if owner == nil || owner.Kind != "Job" {
		return nil
	}
	var errs field.ErrorList
	for _, m := range []struct {
		name     string
		new, old map[string]string
	}{{"annotations", pod.Annotations, old.Annotations}, {"labels", pod.Labels, old.Labels}} {
		now, is := m.new[key]
		was, had := m.old[key]
		if now != was || is != had {
			errs = append(errs, field.Forbidden(field.NewPath("metadata", m.name).Key(key),
				"may not be added, changed or removed: the pod works on the index that its Job gave it"))
		}
	}
	return errs
}

// validateRestOfUpdate refuses changes of other fields: it compares the specs after it has restored the fields that may
// change.
func validateRestOfUpdate(now, was *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	rest := now.DeepCopy()
	for i := range rest.InitContainers {
		rest.InitContainers[i].Image = was.InitContainers[i].Image
	}
	for i := range rest.Containers {
		rest.Containers[i].Image = was.Containers[i].Image
	}
	rest.ActiveDeadlineSeconds = was.ActiveDeadlineSeconds
	rest.Tolerations = was.Tolerations
	rest.SchedulingGates = was.SchedulingGates
	if ptr.Deref(was.TerminationGracePeriodSeconds, 0) < 0 && ptr.Deref(rest.TerminationGracePeriodSeconds, 0) == 1 {
		rest.TerminationGracePeriodSeconds = was.TerminationGracePeriodSeconds
	}
	if len(was.SchedulingGates) > 0 {
		errs = validateGatedPlacement(rest, was, p)
		restoreGatedPlacement(rest, was)
	}
	if apiequality.Semantic.DeepEqual(rest, was) {
		return errs
	}
	return append(errs, field.Forbidden(p, "pod updates may not change fields other than "+
		"`spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` (only additions to existing tolerations), "+
		"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative): "+
		strings.Join(differing(rest, was), " and ")+" would; delete the pod and create it anew"))
}

// differing returns the names of the fields that differ in two specs.
func differing(a, b *corev1.PodSpec) []string {
	var names []string
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range x.NumField() {
		if !apiequality.Semantic.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			name, _, _ := strings.Cut(x.Type().Field(i).Tag.Get("json"), ",")
			names = append(names, "`spec."+name+"`")
		}
	}
	return names
}

// validateDeadlineUpdate allows a new deadline and an earlier one.
func validateDeadlineUpdate(now, was *corev1.PodSpec, p *field.Path) field.ErrorList {
	if d := now.ActiveDeadlineSeconds; d != nil && (*d < 0 || *d > math.MaxInt32) {
		return field.ErrorList{field.Invalid(p, *d, validation.InclusiveRangeError(0, math.MaxInt32))}
	}
	switch {
	case was.ActiveDeadlineSeconds == nil:
		return nil
	case now.ActiveDeadlineSeconds == nil:
		return field.ErrorList{field.Invalid(p, nil, "must not update from a positive integer to nil value")}
	case *now.ActiveDeadlineSeconds > *was.ActiveDeadlineSeconds:
		return field.ErrorList{field.Invalid(p, *now.ActiveDeadlineSeconds, "must be less than or equal to previous value")}
	}
	return nil
}

// validateTolerationUpdate allows new tolerations, and changes of their duration.
func validateTolerationUpdate(now, was []corev1.Toleration, p *field.Path) field.ErrorList {
	same := func(a, b corev1.Toleration) bool {
		a.TolerationSeconds, b.TolerationSeconds = nil, nil
		return a == b
	}
	for _, old := range was {
		if !slices.ContainsFunc(now, func(t corev1.Toleration) bool { return same(t, old) }) {
			return field.ErrorList{field.Forbidden(p, "existing toleration can not be modified except its tolerationSeconds")}
		}
	}
	return nil
}

// validateGateUpdate refuses new scheduling gates. Gates can only be removed.
func validateGateUpdate(now, was []corev1.PodSchedulingGate, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, gate := range now {
		if !slices.Contains(was, gate) {
			errs = append(errs, field.Forbidden(p.Index(i).Child("name"), fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", gate.Name)))
		}
	}
	return errs
}
