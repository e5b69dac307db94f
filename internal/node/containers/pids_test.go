package containers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/job"
)

func TestOnlyAJobLimitsTheProcessesOfItsPods(t *testing.T) {
	for owner, want := range map[string]int64{"Job": 50, "ReplicaSet": 0, "": 0} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{job.PodMaxPIDs: "50"}}}
		if owner != "" {
			pod.OwnerReferences = []metav1.OwnerReference{{Kind: owner, Name: "a", Controller: ptr.To(true)}}
		}
		if got := atMachine().fromSpec(Start{Pod: pod, Spec: &corev1.Container{}}).MaxPIDs; got != want {
			t.Errorf("a pod of %q has the limit %d", owner, got)
		}
	}
}
