package resources

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	podresources "k8s.io/component-helpers/resource"
)

// Request is the resources that a pod requests, or that a machine has.
type Request struct {
	MilliCPU int64
	Memory   int64
	// Storage is the disk space of containers, logs and emptyDirs.
	Storage int64
	// Pods is 1 for every pod.
	Pods int64
}

// kinds in the order in which messages name them.
var kinds = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods}

// RequestOf returns the pod's request: the larger of what its containers request together and of what any init
// container requests with the sidecars started before it.
func RequestOf(pod *corev1.Pod) Request {
	sum := podresources.PodRequests(pod, podresources.PodResourcesOptions{})
	sum[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return RequestFrom(sum)
}

// RequestFrom reads a list such as a node's allocatable resources.
func RequestFrom(list corev1.ResourceList) Request {
	return Request{
		MilliCPU: list.Cpu().MilliValue(), Memory: list.Memory().Value(), Storage: list.StorageEphemeral().Value(), Pods: list.Pods().Value(),
	}
}

func (r Request) of(kind corev1.ResourceName) int64 {
	switch kind {
	case corev1.ResourceCPU:
		return r.MilliCPU
	case corev1.ResourceMemory:
		return r.Memory
	case corev1.ResourceEphemeralStorage:
		return r.Storage
	}
	return r.Pods
}

func (r Request) plus(o Request) Request {
	return Request{MilliCPU: r.MilliCPU + o.MilliCPU, Memory: r.Memory + o.Memory, Storage: r.Storage + o.Storage, Pods: r.Pods + o.Pods}
}

func (r Request) minus(o Request) Request {
	return Request{MilliCPU: r.MilliCPU - o.MilliCPU, Memory: r.Memory - o.Memory, Storage: r.Storage - o.Storage, Pods: r.Pods - o.Pods}
}

// short returns the resources of which the request wants more than is free.
func (r Request) short(free Request) []corev1.ResourceName {
	var short []corev1.ResourceName
	for _, kind := range kinds {
		if want := r.of(kind); want > 0 && want > free.of(kind) {
			short = append(short, kind)
		}
	}
	return short
}

func quantity(kind corev1.ResourceName, value int64) string {
	switch kind {
	case corev1.ResourceCPU:
		return resource.NewMilliQuantity(value, resource.DecimalSI).String()
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return resource.NewQuantity(value, resource.BinarySI).String()
	}
	return fmt.Sprint(value)
}

// explain returns a message about what a request waits for.
func explain(want, free, all Request) string {
	var parts []string
	for _, kind := range want.short(free) {
		have := quantity(kind, max(0, free.of(kind)))
		if want.of(kind) > all.of(kind) {
			parts = append(parts, fmt.Sprintf("%s: %s requested, the machine has only %s",
				kind, quantity(kind, want.of(kind)), quantity(kind, all.of(kind))))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s: %s requested, %s free of %s",
			kind, quantity(kind, want.of(kind)), have, quantity(kind, all.of(kind))))
	}
	if len(parts) == 0 {
		return "older pods wait for the same resources and go first"
	}
	return strings.Join(parts, "; ")
}
