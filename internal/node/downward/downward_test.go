package downward_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/node/downward"
)

func list(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

var pod = &corev1.Pod{
	ObjectMeta: metav1.ObjectMeta{
		Name: "p", Namespace: "ns", UID: "u",
		Labels:      map[string]string{"b": "2", "a": "1\n\"x\""},
		Annotations: map[string]string{"batch.kubernetes.io/job-completion-index": "7"},
	},
	Spec: corev1.PodSpec{
		ServiceAccountName: "default",
		Containers: []corev1.Container{
			{Name: "bound", Resources: corev1.ResourceRequirements{Requests: list("250m", "64Mi"), Limits: list("1500m", "1Gi")}},
			{Name: "free"},
		},
	},
}

var facts = downward.Facts{NodeName: "here", IP: "192.0.2.1", Allocatable: list("4", "8Gi")}

func TestField(t *testing.T) {
	for path, want := range map[string]string{
		"metadata.name":           "p",
		"metadata.namespace":      "ns",
		"metadata.uid":            "u",
		"metadata.labels['b']":    "2",
		"metadata.labels['none']": "",
		"metadata.labels":         "a=\"1\\n\\\"x\\\"\"\nb=\"2\"",
		"spec.nodeName":           "here",
		"spec.serviceAccountName": "default",
		"status.podIP":            "192.0.2.1",
		"status.hostIP":           "192.0.2.1",
		"metadata.annotations['batch.kubernetes.io/job-completion-index']": "7",
	} {
		if got, err := downward.Field(pod, facts, path); err != nil || got != want {
			t.Errorf("Field(%s) = %q, %v, want %q", path, got, err, want)
		}
	}
	for _, path := range []string{"", "spec.containers", "metadata.name['x']", "status.phase"} {
		if got, err := downward.Field(pod, facts, path); err == nil {
			t.Errorf("Field(%s) = %q, want an error", path, got)
		}
	}
}

func TestResource(t *testing.T) {
	for sentence, c := range map[string]struct {
		container string
		ref       corev1.ResourceFieldSelector
		want      string
	}{
		"whole CPUs are rounded up":              {"bound", corev1.ResourceFieldSelector{Resource: "limits.cpu"}, "2"},
		"a divisor changes the unit":             {"bound", corev1.ResourceFieldSelector{Resource: "limits.cpu", Divisor: resource.MustParse("1m")}, "1500"},
		"memory is in bytes":                     {"bound", corev1.ResourceFieldSelector{Resource: "requests.memory"}, "67108864"},
		"memory in mebibytes":                    {"bound", corev1.ResourceFieldSelector{Resource: "limits.memory", Divisor: resource.MustParse("1Mi")}, "1024"},
		"no limit is what the machine has":       {"free", corev1.ResourceFieldSelector{Resource: "limits.cpu"}, "4"},
		"no request is nothing":                  {"free", corev1.ResourceFieldSelector{Resource: "requests.cpu"}, "0"},
		"another container's, where it is named": {"free", corev1.ResourceFieldSelector{ContainerName: "bound", Resource: "requests.cpu", Divisor: resource.MustParse("1m")}, "250"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got, err := downward.Resource(pod, c.container, facts, &c.ref); err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
	for _, ref := range []corev1.ResourceFieldSelector{{Resource: "cpu"}, {ContainerName: "nobody", Resource: "limits.cpu"}} {
		if got, err := downward.Resource(pod, "bound", facts, &ref); err == nil {
			t.Errorf("%+v gave %q, want an error", ref, got)
		}
	}
}
