package remote

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

func fullPod(ownerKind string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "p", Namespace: "n", UID: "u", ResourceVersion: "7", Finalizers: []string{"f"},
			Labels: map[string]string{"l": "1"}, Annotations: map[string]string{"a": "1"},
			OwnerReferences: []metav1.OwnerReference{{Kind: ownerKind, Name: "o", UID: types.UID("o"), Controller: ptr.To(true)}},
			ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "m"}},
		},
		Spec: corev1.PodSpec{
			NodeName: "node", Hostname: "o-1", RestartPolicy: corev1.RestartPolicyOnFailure,
			Volumes:        []corev1.Volume{{Name: "v"}},
			InitContainers: []corev1.Container{{Name: "i", Image: "image", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}},
			Containers:     []corev1.Container{{Name: "c", Image: "image", Env: []corev1.EnvVar{{Name: "e"}}}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.0.0.1",
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "c", RestartCount: 3, Image: "image", ImageID: "id"}},
		},
	}
}

func TestTrimKeepsWhatDecisionsRead(t *testing.T) {
	got := fullPod("Job")
	trimPod(got)
	want := fullPod("Job")
	want.ManagedFields = nil
	want.Spec = corev1.PodSpec{
		NodeName: "node", Hostname: "o-1", RestartPolicy: corev1.RestartPolicyOnFailure,
		InitContainers: []corev1.Container{{Name: "i", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}},
		Containers:     []corev1.Container{{Name: "c"}},
	}
	want.Status.PodIP = ""
	want.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", RestartCount: 3}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestTrimKeepsWhenAPodHasSucceeded(t *testing.T) {
	pod := fullPod("Job")
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Unix(7, 0)}
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, ready}
	trimPod(pod)
	if d := cmp.Diff([]corev1.PodCondition{ready}, pod.Status.Conditions); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestTrimKeepsLittleOfPodsOfOthers(t *testing.T) {
	got := fullPod("ReplicaSet")
	trimPod(got)
	want := fullPod("ReplicaSet")
	want.ManagedFields, want.Labels, want.Annotations = nil, nil, nil
	want.Spec, want.Status = corev1.PodSpec{}, corev1.PodStatus{Phase: corev1.PodRunning}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func BenchmarkDifference(b *testing.B) {
	before := fullPod("Job")
	trimPod(before)
	after := before.DeepCopy()
	after.Finalizers = nil
	b.ReportAllocs()
	for b.Loop() {
		if d, err := difference(before, after, mainPart); err != nil || d == nil {
			b.Fatal(err)
		}
	}
}
