package pod

import (
	"context"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

// FuzzPod checks that no pod makes the server panic, and that an accepted pod is also accepted as an update of itself.
func FuzzPod(f *testing.F) {
	for _, seed := range []string{
		`{}`,
		`{"spec":{"containers":[{"name":"a","image":"b","command":["c"]}]}}`,
		`{"spec":{"containers":[{"name":"a","image":"b:@","env":[{"name":"V","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['x']"}}}],"resources":{"limits":{"cpu":"1e3","memory":"100m"}}}],"volumes":[{"name":"v","projected":{"sources":[{},{"secret":{}}]}}]}}`,
		`{"spec":{"initContainers":[{"restartPolicy":"Always","restartPolicyRules":[{}]}],"containers":[{"volumeMounts":[{"name":"v","mountPath":"/v","subPath":"../x"}],"securityContext":{}}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{}}},"schedulingGates":[{}]},"status":{"initContainerStatuses":[{"state":{"terminated":{}}}],"containerStatuses":[{"lastState":{"terminated":{}}}]}}`,
	} {
		f.Add([]byte(seed))
	}
	r, ctx := Resource(on(registrytest.Able)), context.Background()
	f.Fuzz(func(t *testing.T, data []byte) {
		var pod corev1.Pod
		if json.Unmarshal(data, &pod) != nil {
			t.Skip()
		}
		r.Row(&pod, registrytest.Now)
		r.Default(&pod)
		r.PrepareForCreate(ctx, &pod)
		r.WarningsOnCreate(ctx, &pod)
		if len(r.Validate(ctx, &pod)) > 0 {
			return
		}
		again := pod.DeepCopy()
		r.Default(again)
		r.PrepareForUpdate(ctx, again, &pod)
		if errs := r.ValidateUpdate(ctx, again, &pod); len(errs) > 0 || again.Generation != pod.Generation {
			t.Errorf("sent again: generation %d, %v", again.Generation, errs)
		}
	})
}
