package containers

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/node/runtime"
)

func TestPodsOfHandlersThatDoNotWorkHereAreRefused(t *testing.T) {
	m := &Maker{isolation: runtime.Info{WhyNoImages: "the reason"}}
	for sentence, c := range map[string]struct{ class, handler, want string }{
		"a process":                         {"process", "", ""},
		"an image":                          {"oci", "", "images cannot be run here: the reason"},
		"a class of the user's for images":  {"mine", "oci", "images cannot be run here: the reason"},
		"a class of the user's":             {"mine", "process", ""},
		"a handler from before":             {"mine", "runsc", "no runtime handler runsc"},
		"a class that was never looked for": {"gvisor", "", "no runtime handler gvisor"},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{RuntimeClassName: &c.class}}
		if c.handler != "" {
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, runtime.HandlerAnnotation, c.handler)
		}
		refusal := m.Check(pod)
		if (refusal == nil) != (c.want == "") || refusal != nil && !strings.Contains(refusal.Error(), c.want) {
			t.Errorf("%s: %v, want %q", sentence, refusal, c.want)
		}
	}
}
