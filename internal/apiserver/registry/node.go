package registry

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

// Node describes nodes, the machines that run pods.
func Node() kinds.Resource {
	return kinds.Resource{
		Version:       corev1.SchemeGroupVersion,
		Kind:          "Node",
		Plural:        "nodes",
		Singular:      "node",
		ShortNames:    []string{"no"},
		ClusterScoped: true,
		New:           func() runtime.Object { return &corev1.Node{} },
		NewList:       func() runtime.Object { return &corev1.NodeList{} },

		// PrepareForCreate is missing, because a node registers itself with its status.
		Default: func(obj runtime.Object) {
			s := &obj.(*corev1.Node).Status
			if s.Allocatable == nil && s.Capacity != nil {
				s.Allocatable = s.Capacity.DeepCopy()
			}
		},
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			return validateNode(obj.(*corev1.Node))
		},
		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			obj.(*corev1.Node).Status = old.(*corev1.Node).Status
		},
		ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
			return append(validateNode(obj.(*corev1.Node)), validateNodeUpdate(obj.(*corev1.Node), old.(*corev1.Node))...)
		},
		Status: &kinds.Part{
			PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
				obj.(*corev1.Node).Spec = old.(*corev1.Node).Spec
			},
			ValidateUpdate: func(_ context.Context, obj, _ runtime.Object) field.ErrorList {
				return validateNodeStatus(&obj.(*corev1.Node).Status, field.NewPath("status"))
			},
		},
		SelectableFields: []kinds.SelectableField{{Name: "spec.unschedulable", Value: func(obj runtime.Object) string {
			return strconv.FormatBool(obj.(*corev1.Node).Spec.Unschedulable)
		}}},
		Columns: nodeColumns,
		Row:     nodeRow,
	}
}

func validateNode(n *corev1.Node) field.ErrorList {
	return append(validateTaints(n.Spec.Taints, field.NewPath("spec", "taints")),
		validateNodeStatus(&n.Status, field.NewPath("status"))...)
}

func validateTaints(taints []corev1.Taint, p *field.Path) field.ErrorList {
	type identity struct {
		key    string
		effect corev1.TaintEffect
	}
	var errs field.ErrorList
	seen := sets.New[identity]()
	for i, t := range taints {
		at := p.Index(i)
		errs = append(errs, metav1validation.ValidateLabelName(t.Key, at.Child("key"))...)
		errs = append(errs, check.Among(t.Effect, at.Child("effect"),
			corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)...)
		if id := (identity{t.Key, t.Effect}); seen.Has(id) {
			errs = append(errs, field.Duplicate(at, t.Key+":"+string(t.Effect)))
		} else {
			seen.Insert(id)
		}
	}
	return errs
}

// validateNodeStatus requires that capacity and allocatable are not negative. The names of resources are not checked,
// because nodes have resources that no container can request, such as pods.
func validateNodeStatus(s *corev1.NodeStatus, p *field.Path) field.ErrorList {
	return append(validateAmounts(s.Capacity, p.Child("capacity")), validateAmounts(s.Allocatable, p.Child("allocatable"))...)
}

func validateAmounts(list corev1.ResourceList, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if q := list[name]; q.Sign() < 0 {
			errs = append(errs, field.Invalid(p.Key(string(name)), q.String(), apivalidation.IsNegativeErrorMsg))
		}
	}
	return errs
}

// validateNodeUpdate refuses changes to the fields that identify the machine, once they are set.
func validateNodeUpdate(n, old *corev1.Node) field.ErrorList {
	p := field.NewPath("spec")
	var errs field.ErrorList
	if old.Spec.ProviderID != "" && n.Spec.ProviderID != old.Spec.ProviderID {
		errs = append(errs, field.Forbidden(p.Child("providerID"), "node updates may not change providerID except from \"\" to valid"))
	}
	if len(old.Spec.PodCIDRs) > 0 && !apiequality.Semantic.DeepEqual(n.Spec.PodCIDRs, old.Spec.PodCIDRs) {
		errs = append(errs, field.Forbidden(p.Child("podCIDRs"), "node updates may not change podCIDR except from \"\" to valid"))
	}
	return errs
}

var nodeColumns = []metav1.TableColumnDefinition{
	kinds.NameColumn,
	{Name: "Status", Type: "string", Description: "The status of the node"},
	{Name: "Roles", Type: "string", Description: "The roles of the node"},
	kinds.AgeColumn,
	{Name: "Version", Type: "string", Description: corev1.NodeSystemInfo{}.SwaggerDoc()["kubeletVersion"]},
	{Name: "Internal-IP", Type: "string", Priority: 1, Description: corev1.NodeStatus{}.SwaggerDoc()["addresses"]},
	{Name: "External-IP", Type: "string", Priority: 1, Description: corev1.NodeStatus{}.SwaggerDoc()["addresses"]},
	{Name: "OS-Image", Type: "string", Priority: 1, Description: corev1.NodeSystemInfo{}.SwaggerDoc()["osImage"]},
	{Name: "Kernel-Version", Type: "string", Priority: 1, Description: corev1.NodeSystemInfo{}.SwaggerDoc()["kernelVersion"]},
	{Name: "Container-Runtime", Type: "string", Priority: 1, Description: corev1.NodeSystemInfo{}.SwaggerDoc()["containerRuntimeVersion"]},
}

func nodeRow(obj runtime.Object, now time.Time) []any {
	n := obj.(*corev1.Node)
	info := &n.Status.NodeInfo
	return []any{
		n.Name,
		nodeState(n),
		nodeRoles(n),
		kinds.Age(n.CreationTimestamp, now),
		info.KubeletVersion,
		nodeAddress(n, corev1.NodeInternalIP),
		nodeAddress(n, corev1.NodeExternalIP),
		orUnknown(info.OSImage),
		orUnknown(info.KernelVersion),
		orUnknown(info.ContainerRuntimeVersion),
	}
}

func orUnknown(s string) string {
	if s == "" {
		return "<unknown>"
	}
	return s
}

func nodeState(n *corev1.Node) string {
	state := "Unknown"
	for _, c := range n.Status.Conditions {
		if c.Type != corev1.NodeReady {
			continue
		}
		state = "NotReady"
		if c.Status == corev1.ConditionTrue {
			state = "Ready"
		}
	}
	if n.Spec.Unschedulable {
		state += ",SchedulingDisabled"
	}
	return state
}

// nodeRoles returns the roles of a node, which are stored as labels.
func nodeRoles(n *corev1.Node) string {
	roles := sets.New[string]()
	for key, value := range n.Labels {
		if role, ok := strings.CutPrefix(key, "node-role.kubernetes.io/"); ok && role != "" {
			roles.Insert(role)
		}
		if key == "kubernetes.io/role" && value != "" {
			roles.Insert(value)
		}
	}
	return kinds.OrNone(strings.Join(slices.Sorted(slices.Values(roles.UnsortedList())), ","))
}

func nodeAddress(n *corev1.Node, kind corev1.NodeAddressType) string {
	for _, a := range n.Status.Addresses {
		if a.Type == kind {
			return a.Address
		}
	}
	return "<none>"
}
