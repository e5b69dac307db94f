package registry

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// validatePodUpdate lets a few fields change, each in its own way, and nothing else.
func validatePodUpdate(pod, old *corev1.Pod) field.ErrorList {
	if pod.Generation == old.Generation {
		return nil // preparePodUpdate found no change of the spec
	}
	p := field.NewPath("spec")
	now, was := &pod.Spec, &old.Spec
	if len(now.InitContainers) != len(was.InitContainers) {
		return field.ErrorList{field.Forbidden(p.Child("initContainers"), "pod updates may not add or remove containers")}
	}
	if len(now.Containers) != len(was.Containers) {
		return field.ErrorList{field.Forbidden(p.Child("containers"), "pod updates may not add or remove containers")}
	}
	errs := append(requireImages(now, p), validateImages(now, p)...)
	errs = append(errs, validateDeadlineUpdate(now, was, p.Child("activeDeadlineSeconds"))...)
	errs = append(errs, validateTolerationUpdate(now.Tolerations, was.Tolerations, p.Child("tolerations"))...)
	errs = append(errs, validateGateUpdate(now.SchedulingGates, was.SchedulingGates, p.Child("schedulingGates"))...)
	errs = append(errs, validateNodeNameUpdate(now, was, p)...)
	if len(errs) > 0 {
		return errs
	}
	return validateRestOfPodUpdate(now, was, p)
}

// validateRestOfPodUpdate puts the old values in the place of all that may change; then nothing may differ.
func validateRestOfPodUpdate(now, was *corev1.PodSpec, p *field.Path) field.ErrorList {
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
	rest.NodeName = was.NodeName
	if ptr.Deref(was.TerminationGracePeriodSeconds, 0) < 0 && ptr.Deref(rest.TerminationGracePeriodSeconds, 0) == 1 {
		rest.TerminationGracePeriodSeconds = was.TerminationGracePeriodSeconds
	}
	if len(was.SchedulingGates) > 0 {
		takeGatedDirectives(rest, was)
	}
	if apiequality.Semantic.DeepEqual(rest, was) {
		return nil
	}
	return field.ErrorList{field.Forbidden(p, "pod updates may not change fields other than "+
		"`spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` (only additions to existing tolerations), "+
		"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative): "+
		strings.Join(differing(rest, was), " and ")+" would; delete the pod and create it anew")}
}

// differing names the fields of two specs that are not the same.
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

// takeGatedDirectives: as long as a pod waits behind a gate, where it may run can be narrowed.
func takeGatedDirectives(rest, was *corev1.PodSpec) {
	kept := maps.Clone(rest.NodeSelector)
	maps.DeleteFunc(kept, func(key, _ string) bool {
		_, ok := was.NodeSelector[key]
		return !ok
	})
	if maps.Equal(kept, was.NodeSelector) {
		rest.NodeSelector = was.NodeSelector
	}
	if was.Affinity == nil && rest.Affinity != nil && rest.Affinity.PodAffinity == nil && rest.Affinity.PodAntiAffinity == nil {
		rest.Affinity = nil
	}
}

func requireImages(now *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for at, c := range containersAt(now, p) {
		errs = append(errs, requireName(c.Image, at.Child("image"))...)
	}
	return errs
}

// validateDeadlineUpdate: a deadline can be set and brought forward.
func validateDeadlineUpdate(now, was *corev1.PodSpec, p *field.Path) field.ErrorList {
	if now.ActiveDeadlineSeconds == nil {
		if was.ActiveDeadlineSeconds != nil {
			return field.ErrorList{field.Invalid(p, nil, "must not update from a positive integer to nil value")}
		}
		return nil
	}
	if errs := validateDeadline(now, p); len(errs) > 0 {
		return errs
	}
	if was.ActiveDeadlineSeconds != nil && *now.ActiveDeadlineSeconds > *was.ActiveDeadlineSeconds {
		return field.ErrorList{field.Invalid(p, *now.ActiveDeadlineSeconds, "must be less than or equal to previous value")}
	}
	return nil
}

// validateTolerationUpdate: tolerations can be added, and last longer or shorter.
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
	return validateTolerations(now, p)
}

// validateGateUpdate: gates are only ever opened.
func validateGateUpdate(now, was []corev1.PodSchedulingGate, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, gate := range now {
		if !slices.Contains(was, gate) {
			errs = append(errs, field.Forbidden(p.Index(i), fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", gate.Name)))
		}
	}
	return errs
}

// validateNodeNameUpdate: a pod is bound to a node once, when no gate holds it back.
func validateNodeNameUpdate(now, was *corev1.PodSpec, p *field.Path) field.ErrorList {
	at := p.Child("nodeName")
	switch {
	case now.NodeName == was.NodeName:
		return nil
	case was.NodeName != "":
		return field.ErrorList{field.Forbidden(at, fmt.Sprintf("pod is bound to node %q already and cannot move", was.NodeName))}
	case len(now.SchedulingGates) > 0:
		return field.ErrorList{field.Forbidden(at, "cannot be set until all schedulingGates have been cleared")}
	}
	return subdomain(now.NodeName, at)
}
