package registry

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

func TestPodTemplateCountsItsChanges(t *testing.T) {
	r, ctx := PodTemplate(onNode(registrytest.Able)), context.Background()
	old := registrytest.Posted(r, &corev1.PodTemplate{Template: corev1.PodTemplateSpec{Spec: registrytest.Pod().Spec}})
	same, other := old.DeepCopy(), old.DeepCopy()
	same.Labels = map[string]string{"a": "b"}
	other.Template.Spec.Containers[0].Command = nil
	r.PrepareForUpdate(ctx, same, old)
	r.PrepareForUpdate(ctx, other, old)
	if old.Generation != 1 || same.Generation != 1 || other.Generation != 2 {
		t.Errorf("generations %d, %d, %d; want 1, 1, 2", old.Generation, same.Generation, other.Generation)
	}
	registrytest.WantErrors(t, r.ValidateUpdate(ctx, other, old), "template.spec.containers[0].command Forbidden")
}
