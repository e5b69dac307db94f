package registry

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

func scheduling(s nodev1.Scheduling) func(*nodev1.RuntimeClass) {
	return func(class *nodev1.RuntimeClass) { class.Scheduling = &s }
}

func TestRuntimeClasses(t *testing.T) {
	needs := func(class *nodev1.RuntimeClass) {
		class.Overhead = &nodev1.Overhead{PodFixed: corev1.ResourceList{"cpu": resource.MustParse("1")}}
	}
	tolerates := corev1.Toleration{Key: "a", Operator: corev1.TolerationOpExists}
	runObjectCases(t, RuntimeClass(onNode(registrytest.Able)), map[string]objectCase{
		"a class of one's own for images":      {obj: registrytest.RuntimeClass("mine", "oci")},
		"or for processes":                     {obj: registrytest.RuntimeClass("mine", "process")},
		"with where it runs":                   {obj: registrytest.RuntimeClass("mine", "oci", scheduling(nodev1.Scheduling{NodeSelector: map[string]string{"a": "b"}, Tolerations: []corev1.Toleration{tolerates}}))},
		"a handler is needed":                  {obj: registrytest.RuntimeClass("mine", ""), want: []string{"handler Required"}},
		"which is a label":                     {obj: registrytest.RuntimeClass("mine", "No.Label"), want: []string{"handler Invalid"}},
		"and one of this machine":              {obj: registrytest.RuntimeClass("mine", "runsc"), want: []string{"handler Invalid"}},
		"the usual names keep their handler":   {obj: registrytest.RuntimeClass("process", "oci"), want: []string{"handler Invalid"}},
		"overhead is not supported yet":        {obj: registrytest.RuntimeClass("mine", "oci", needs), want: []string{"overhead.podFixed Forbidden"}},
		"empty overhead is none":               {obj: registrytest.RuntimeClass("mine", "oci", func(class *nodev1.RuntimeClass) { class.Overhead = &nodev1.Overhead{} })},
		"a selector of labels":                 {obj: registrytest.RuntimeClass("mine", "oci", scheduling(nodev1.Scheduling{NodeSelector: map[string]string{"a b": "c"}})), want: []string{"scheduling.nodeSelector Invalid"}},
		"a toleration that is none":            {obj: registrytest.RuntimeClass("mine", "oci", scheduling(nodev1.Scheduling{Tolerations: []corev1.Toleration{{Operator: "Is"}}})), want: []string{"scheduling.tolerations[0].operator Invalid", "scheduling.tolerations[0].operator NotSupported"}},
		"a toleration told twice":              {obj: registrytest.RuntimeClass("mine", "oci", scheduling(nodev1.Scheduling{Tolerations: []corev1.Toleration{tolerates, tolerates}})), want: []string{"scheduling.tolerations[1] Duplicate"}},
		"the handler stays":                    {old: registrytest.RuntimeClass("mine", "oci"), obj: registrytest.RuntimeClass("mine", "process"), want: []string{"handler Invalid"}},
		"where it runs may change":             {old: registrytest.RuntimeClass("mine", "oci"), obj: registrytest.RuntimeClass("mine", "oci", scheduling(nodev1.Scheduling{Tolerations: []corev1.Toleration{tolerates}}))},
		"also of a usual one":                  {old: registrytest.RuntimeClass("oci", "oci"), obj: registrytest.RuntimeClass("oci", "oci", scheduling(nodev1.Scheduling{NodeSelector: map[string]string{"a": "b"}}))},
		"a handler from before stays, as well": {old: registrytest.RuntimeClass("mine", "runsc"), obj: registrytest.RuntimeClass("mine", "runsc")},
	})
	runObjectCases(t, RuntimeClass(pod.Options{}), map[string]objectCase{
		"any handler where pods run elsewhere": {obj: registrytest.RuntimeClass("mine", "runsc")},
	})
}

func TestHandlersThatThereAreAreNamed(t *testing.T) {
	err := RuntimeClass(onNode(registrytest.Able)).Validate(t.Context(), registrytest.RuntimeClass("mine", "cri")).ToAggregate()
	for _, want := range []string{"handler", "oci", "process", "not supported yet"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func TestRowOfARuntimeClass(t *testing.T) {
	var class runtime.Object = registrytest.RuntimeClass("mine", "oci")
	if row := RuntimeClass(pod.Options{}).Row(class, metav1.Now().Time); row[0] != "mine" || row[1] != "oci" {
		t.Errorf("row %v", row)
	}
}
