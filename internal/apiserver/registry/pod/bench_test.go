package pod

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

// BenchmarkCreatePod measures defaults, validation and warnings of a new pod.
func BenchmarkCreatePod(b *testing.B) {
	r, ctx := Resource(on(registrytest.Able)), context.Background()
	manifest := registrytest.Pod(withEnv(corev1.EnvVar{Name: "A", Value: "1"}))
	for b.Loop() {
		pod := manifest.DeepCopy()
		r.Default(pod)
		r.PrepareForCreate(ctx, pod)
		if errs := r.Validate(ctx, pod); len(errs) > 0 {
			b.Fatal(errs)
		}
		r.WarningsOnCreate(ctx, pod)
	}
}

// BenchmarkReleasePod measures the validation of an update that removes a finalizer.
func BenchmarkReleasePod(b *testing.B) {
	r, ctx := Resource(on(registrytest.Able)), context.Background()
	old := createdPod(func(p *corev1.Pod) { p.Finalizers = []string{"batch.kubernetes.io/job-tracking"} })
	for b.Loop() {
		pod := old.DeepCopy()
		pod.Finalizers = nil
		r.PrepareForUpdate(ctx, pod, old)
		if errs := r.ValidateUpdate(ctx, pod, old); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}
