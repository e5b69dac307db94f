package pod

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
	"github.com/stint-dev/stint/internal/node/runtime"
)

func TestTheHandlerOfAPodIsSettled(t *testing.T) {
	for sentence, c := range map[string]struct {
		class   *nodev1.RuntimeClass
		handler string
		marked  bool
	}{
		"no class is a process":               {nil, runtime.ClassProcess, false},
		"a usual class needs no mark":         {registrytest.RuntimeClass("oci", "oci"), runtime.ClassOCI, false},
		"another name is marked":              {registrytest.RuntimeClass("mine", "oci"), runtime.ClassOCI, true},
		"as is one that runs things as today": {registrytest.RuntimeClass("mine", "process"), runtime.ClassProcess, true},
	} {
		pod := registrytest.Pod()
		pod.Annotations = map[string]string{runtime.HandlerAnnotation: "what the author would like"}
		if c.class != nil {
			pod.Spec.RuntimeClassName = &c.class.Name
		}
		if err := ApplyRuntimeClass(pod, c.class); err != nil {
			t.Errorf("%s: %v", sentence, err)
		}
		if _, marked := pod.Annotations[runtime.HandlerAnnotation]; marked != c.marked || runtime.HandlerOf(pod) != c.handler {
			t.Errorf("%s: %v, handler %s", sentence, pod.Annotations, runtime.HandlerOf(pod))
		}
	}
}

func TestTheHandlerOfAPodStays(t *testing.T) {
	old := createdPod()
	old.Annotations = map[string]string{runtime.HandlerAnnotation: runtime.ClassProcess}
	for _, annotations := range []map[string]string{nil, {runtime.HandlerAnnotation: runtime.ClassOCI}} {
		pod := old.DeepCopy()
		pod.Annotations = annotations
		registrytest.WantErrors(t, Resource(Options{}).ValidateUpdate(t.Context(), pod, old), "metadata.annotations[stint.dev/runtime-handler] Forbidden")
	}
}

func TestAPodRunsWhereItsClassDoes(t *testing.T) {
	pod := registrytest.Pod(inSpec(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"a": "1", "own": "x"} }))
	class := registrytest.RuntimeClass("mine", "oci", func(c *nodev1.RuntimeClass) {
		c.Scheduling = &nodev1.Scheduling{NodeSelector: map[string]string{"a": "1", "b": "2"}}
	})
	if err := ApplyRuntimeClass(pod, class); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "2", "own": "x"}, pod.Spec.NodeSelector); diff != "" {
		t.Errorf("nodeSelector (-want +got):\n%s", diff)
	}
	pod.Spec.NodeSelector["b"] = "3"
	if err := ApplyRuntimeClass(pod, class); err == nil || !strings.Contains(err.Error(), "nodeSelector[b] = 2") {
		t.Errorf("another value: %v", err)
	}
}

func TestTolerationsOfAClassAreAdded(t *testing.T) {
	forever := corev1.Toleration{Key: "a", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}
	awhile, longer := forever, forever
	awhile.TolerationSeconds, longer.TolerationSeconds = ptr.To[int64](5), ptr.To[int64](9)
	value := corev1.Toleration{Key: "a", Value: "1", Effect: corev1.TaintEffectNoExecute}
	sameValue := value
	sameValue.Operator = corev1.TolerationOpEqual
	other := corev1.Toleration{Key: "b", Operator: corev1.TolerationOpExists}
	all := corev1.Toleration{Operator: corev1.TolerationOpExists}
	list := func(t ...corev1.Toleration) []corev1.Toleration { return t }
	for sentence, c := range map[string]struct{ own, more, want []corev1.Toleration }{
		"both stay":                            {list(value), list(other), list(value, other)},
		"the same is there once":               {list(other), list(other), list(other)},
		"however it is written":                {list(value), list(sameValue), list(value)},
		"a longer one takes a shorter's place": {list(awhile), list(longer), list(longer)},
		"a shorter one adds nothing":           {list(longer), list(awhile), list(longer)},
		"for ever is longest":                  {list(awhile), list(forever), list(forever)},
		"any value covers one":                 {list(value), list(forever), list(forever)},
		"a while of any value does not":        {list(value), list(awhile), list(value, awhile)},
		"every key covers all":                 {list(value, other), list(all), list(all)},
		"none":                                 {nil, nil, nil},
	} {
		if diff := cmp.Diff(c.want, mergeTolerations(c.own, c.more)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sentence, diff)
		}
	}
}

func TestTemplatesOfAMissingClassAreWarnedOf(t *testing.T) {
	for sentence, c := range map[string]struct {
		o     Options
		class *string
		want  string
	}{
		"a class that is not there":      {on(registrytest.Able), ptr.To("gvisor"), `there is no RuntimeClass "gvisor"`},
		"a usual one":                    {on(registrytest.Able), ptr.To("oci"), ""},
		"none":                           {on(registrytest.Able), nil, ""},
		"where pods run is not known of": {Options{}, ptr.To("gvisor"), ""},
	} {
		got := strings.Join(c.o.warnMissingClass(&corev1.PodSpec{RuntimeClassName: c.class}, field.NewPath("spec", "runtimeClassName")), "\n")
		if !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q", sentence, got)
		}
	}
}
