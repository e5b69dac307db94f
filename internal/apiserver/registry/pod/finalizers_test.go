package pod

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// kubernetes/kubernetes#127917: a pod's finalizer could not be removed, because another field was refused: one that an
// older server had stored, or that a newer server computes in another way.
func TestAFinalizerGoesWhateverElseIsWrongWithItsPod(t *testing.T) {
	for sentence, edit := range map[string]podEdit{
		"its QoS class is not what its resources make": func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
			p.Status.QOSClass = corev1.PodQOSGuaranteed
		},
		"it asks for what this node cannot do": func(p *corev1.Pod) { p.Spec.HostPID = true },
		"its spec is not valid any more":       func(p *corev1.Pod) { p.Spec.Containers[0].Name = "No Name" },
		"its annotations are not valid any more": func(p *corev1.Pod) {
			p.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": "many", "a b": ""}
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			old := createdPod()
			old.Finalizers = []string{"batch.kubernetes.io/job-tracking"}
			edit(old)
			kind := Resource(Options{Node: func() runtime.Info { return runtime.Info{} }})
			now := editedPod(old, func(p *corev1.Pod) { p.Finalizers = nil })
			kind.PrepareForUpdate(context.Background(), now, old)
			registrytest.WantErrors(t, kind.ValidateUpdate(context.Background(), now, old))
		})
	}
}
