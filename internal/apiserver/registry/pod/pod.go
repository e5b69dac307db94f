// Package pod has the defaults, validation and tables of pods and pod templates, and the rules for fields that the node
// does not support.
package pod

import (
	"context"
	"fmt"
	"reflect"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/kubectl/pkg/util/qos"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/podstatus"
)

// Resource describes pods.
func Resource(o Options) kinds.Resource {
	return kinds.Resource{
		Version:    corev1.SchemeGroupVersion,
		Kind:       "Pod",
		Plural:     "pods",
		Singular:   "pod",
		ShortNames: []string{"po"},
		Categories: []string{"all"},
		New:        func() runtime.Object { return &corev1.Pod{} },
		NewList:    func() runtime.Object { return &corev1.PodList{} },

		Default: func(obj runtime.Object) { setDefaults(obj.(*corev1.Pod)) },
		PrepareForCreate: func(ctx context.Context, obj runtime.Object) {
			prepareForCreate(ctx, obj.(*corev1.Pod))
		},
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			return validate(obj.(*corev1.Pod), o)
		},
		WarningsOnCreate: func(_ context.Context, obj runtime.Object) []string {
			return warnCreate(obj.(*corev1.Pod), o)
		},
		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			prepareForUpdate(obj.(*corev1.Pod), old.(*corev1.Pod))
		},
		ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
			return validateUpdate(obj.(*corev1.Pod), old.(*corev1.Pod))
		},
		Status: &kinds.Part{
			PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
				prepareForStatusUpdate(obj.(*corev1.Pod), old.(*corev1.Pod))
			},
			ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
				return validateStatusUpdate(obj.(*corev1.Pod), old.(*corev1.Pod))
			},
			ResetFields: []string{"deletionTimestamp", "ownerReferences"},
		},
		EphemeralContainers: &kinds.Part{
			PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
				prepareForEphemeralUpdate(obj.(*corev1.Pod), old.(*corev1.Pod))
			},
			ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
				return validateEphemeralUpdate(obj.(*corev1.Pod), old.(*corev1.Pod), o)
			},
			WarningsOnUpdate: func(_ context.Context, obj, old runtime.Object) []string {
				return o.warnEphemeralUpdate(obj.(*corev1.Pod), old.(*corev1.Pod))
			},
		},
		SelectableFields: selectableFields(),
		CheckGracefulDelete: func(_ context.Context, obj runtime.Object, options *metav1.DeleteOptions) bool {
			pod := obj.(*corev1.Pod)
			options.GracePeriodSeconds = ptr.To(gracePeriod(pod, o.isRunByNode(pod), options.GracePeriodSeconds))
			// With a grace period of 0 the pod is deleted at once, without another write for the deletion timestamp.
			return *options.GracePeriodSeconds > 0
		},
		Columns: columns,
		Row:     row,
	}
}

func selectableFields() []kinds.SelectableField {
	field := func(name string, value func(*corev1.Pod) string) kinds.SelectableField {
		return kinds.SelectableField{Name: name, Value: func(obj runtime.Object) string { return value(obj.(*corev1.Pod)) }}
	}
	hostNetwork := field("spec.hostNetwork", func(p *corev1.Pod) string { return strconv.FormatBool(p.Spec.HostNetwork) })
	hostNetwork.Usual = "false"
	return []kinds.SelectableField{
		hostNetwork,
		field("spec.nodeName", func(p *corev1.Pod) string { return p.Spec.NodeName }),
		field("spec.restartPolicy", func(p *corev1.Pod) string { return string(p.Spec.RestartPolicy) }),
		field("spec.schedulerName", func(p *corev1.Pod) string { return p.Spec.SchedulerName }),
		field("spec.serviceAccountName", func(p *corev1.Pod) string { return p.Spec.ServiceAccountName }),
		field("status.phase", func(p *corev1.Pod) string { return string(p.Status.Phase) }),
		field("status.podIP", func(p *corev1.Pod) string { return p.Status.PodIP }),
		field("status.nominatedNodeName", func(p *corev1.Pod) string { return p.Status.NominatedNodeName }),
	}
}

// prepareForCreate sets the status of a new pod, and the fields that admission plugins of a cluster would set.
func prepareForCreate(ctx context.Context, pod *corev1.Pod) {
	pod.Generation = 1
	setDefault(&pod.Spec.ServiceAccountName, "default")
	pod.Spec.DeprecatedServiceAccount = pod.Spec.ServiceAccountName
	pod.Spec.Priority = orDefault(pod.Spec.Priority, 0)
	pod.Spec.PreemptionPolicy = orDefault(pod.Spec.PreemptionPolicy, corev1.PreemptLowerPriority)

	selectByOwnLabels(pod)
	for _, msg := range copyAppArmorAnnotations(pod) {
		warning.AddWarning(ctx, "", msg)
	}

	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: qos.ComputePodQOS(pod)}
	if len(pod.Spec.SchedulingGates) > 0 {
		pod.Status.Conditions = []corev1.PodCondition{{
			Type:               corev1.PodScheduled,
			Status:             corev1.ConditionFalse,
			Reason:             corev1.PodReasonSchedulingGated,
			Message:            "Scheduling is blocked due to non-empty scheduling gates",
			LastTransitionTime: metav1.Now(),
		}}
	}
}

func prepareForUpdate(pod, old *corev1.Pod) {
	pod.Status = old.Status
	pod.Generation = old.Generation
	if !sameSpec(&pod.Spec, &old.Spec) {
		pod.Generation++
	}
}

// sameSpec reports whether two specs are equal. It tries reflect.DeepEqual first, which takes a sixth of the time and is
// enough for nearly all updates, because most of them do not change the spec.
func sameSpec(a, b *corev1.PodSpec) bool {
	return reflect.DeepEqual(a, b) || apiequality.Semantic.DeepEqual(a, b)
}

// gracePeriod returns the grace period for the deletion of a pod, in seconds. asked is that of the request, or nil.
func gracePeriod(pod *corev1.Pod, mayRun bool, asked *int64) int64 {
	grace := ptr.Deref(asked, ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, 0))
	switch {
	case !mayRun, podstatus.IsTerminated(pod):
		return 0 // no container runs
	case grace < 0:
		return 1
	}
	return grace
}

// validate validates a new pod.
func validate(pod *corev1.Pod, o Options) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateAnnotations(pod.Annotations, &pod.Spec, field.NewPath("metadata", "annotations"))
	errs = append(errs, validateSpec(&pod.Spec, spec)...)
	errs = append(errs, validateImages(&pod.Spec, spec)...)
	errs = append(errs, validateOwnVolumes(pod, spec.Child("volumes"))...)
	errs = append(errs, validateProfileAnnotations(pod.Annotations, &pod.Spec, spec)...)
	if len(pod.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(spec.Child("ephemeralContainers"), "cannot be set on create: add them to a running pod, as kubectl debug does"))
	}
	if pod.Spec.NodeName != "" && len(pod.Spec.SchedulingGates) > 0 {
		errs = append(errs, field.Forbidden(spec.Child("nodeName"), "cannot be set until all schedulingGates have been cleared"))
	}
	return append(errs, refuseUnsupported(&pod.Spec, o.nodeForPod(pod), spec)...)
}

func warnCreate(pod *corev1.Pod, o Options) []string {
	spec := field.NewPath("spec")
	warnings := warnAnnotations(pod.Annotations, &pod.Spec, field.NewPath("metadata", "annotations"))
	warnings = append(warnings, warnSpec(&pod.Spec, spec)...)
	warnings = append(warnings, warnIgnored(&pod.Spec, o.nodeForPod(pod), spec)...)
	for _, msg := range validation.IsDNS1123Label(pod.Name) {
		warnings = append(warnings, fmt.Sprintf("metadata.name: is the pod's host name too, for which a DNS label is better: %s", msg))
	}
	return warnings
}
