package remote

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestDifferenceHoldsTheChangeAndNothingElse(t *testing.T) {
	for name, c := range map[string]struct {
		part   part
		change func(*corev1.Pod)
		want   string
	}{
		"nothing": {mainPart, func(*corev1.Pod) {}, ""},
		"a finalizer for another": {mainPart, func(p *corev1.Pod) { p.Finalizers = []string{"g"} },
			`{"metadata":{"$deleteFromPrimitiveList/finalizers":["f"],"finalizers":["g"],"uid":"u"}}`},
		"no owner": {mainPart, func(p *corev1.Pod) { p.OwnerReferences = nil },
			`{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"o"}],"uid":"u"}}`},
		"the owner is no longer the controller": {mainPart, func(p *corev1.Pod) { p.OwnerReferences[0].Controller = ptr.To(false) },
			`{"metadata":{"ownerReferences":[{"apiVersion":"","kind":"Job","name":"o","uid":"o","controller":false}],"uid":"u"}}`},
		"labels and annotations": {mainPart, func(p *corev1.Pod) { p.Labels, p.Annotations["b"] = nil, "2" },
			`{"metadata":{"annotations":{"b":"2"},"labels":{"l":null},"uid":"u"}}`},
		"what the API server writes": {mainPart, func(p *corev1.Pod) { p.ResourceVersion, p.ManagedFields = "8", []metav1.ManagedFieldsEntry{} }, ""},
		"one container of the spec": {mainPart, func(p *corev1.Pod) { p.Spec.Containers[0].Image = "new" },
			`{"metadata":{"uid":"u"},"spec":{"$setElementOrder/containers":[{"name":"c"}],"containers":[{"image":"new","name":"c"}]}}`},
		"the status, in the main part":      {mainPart, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, ""},
		"the status":                        {statusPart, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, `{"metadata":{"uid":"u"},"status":{"phase":"Failed"}}`},
		"the main part, in the status part": {statusPart, func(p *corev1.Pod) { p.Labels, p.Spec.NodeName = nil, "other" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			before := fullPod("Job")
			after := before.DeepCopy()
			c.change(after)
			got, err := difference(before, after, c.part)
			if err != nil || string(got) != c.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, c.want)
			}
		})
	}
}
