package registry

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

func TestNamespaces(t *testing.T) {
	ns := registrytest.Posted(Namespace(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: corev1.NamespaceStatus{Phase: "Gone"}})
	want := &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"kubernetes.io/metadata.name": "a"}},
		Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{"kubernetes"}},
		Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	}
	if diff := cmp.Diff(want, ns); diff != "" {
		t.Errorf("new namespace (-want +got):\n%s", diff)
	}
	registrytest.WantErrors(t, Namespace().Validate(context.Background(), ns))

	update := ns.DeepCopy()
	update.Spec.Finalizers, update.Status.Phase = nil, corev1.NamespaceTerminating
	Namespace().PrepareForUpdate(context.Background(), update, ns)
	if diff := cmp.Diff(ns, update); diff != "" {
		t.Errorf("update (-want +got):\n%s", diff)
	}

	update.Labels["kubernetes.io/metadata.name"] = "b"
	registrytest.WantErrors(t, Namespace().ValidateUpdate(context.Background(), update, ns), "metadata.labels[kubernetes.io/metadata.name] Invalid")
}

func TestNamespacePhases(t *testing.T) {
	for sentence, c := range map[string]struct {
		phase   corev1.NamespacePhase
		deleted *metav1.Time
		want    []string
	}{
		"a namespace is active":                      {corev1.NamespaceActive, nil, nil},
		"a deleted one is terminating":               {corev1.NamespaceTerminating, &metav1.Time{Time: registrytest.Now}, nil},
		"one that is not deleted stays active":       {corev1.NamespaceTerminating, nil, []string{"status.phase Invalid"}},
		"a deleted one does not become active again": {corev1.NamespaceActive, &metav1.Time{Time: registrytest.Now}, []string{"status.phase Invalid"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: c.deleted}, Status: corev1.NamespaceStatus{Phase: c.phase}}
			registrytest.WantErrors(t, Namespace().Status.ValidateUpdate(context.Background(), ns, ns), c.want...)
		})
	}
}

func TestNamespaceFinalizers(t *testing.T) {
	runObjectCases(t, Namespace(), map[string]objectCase{
		"a finalizer of one's own has a domain": {
			obj:  &corev1.Namespace{Spec: corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{"mine", "example.com/mine"}}},
			want: []string{"spec.finalizers[0] Invalid"},
		},
		"the usual one need not be given": {obj: &corev1.Namespace{Spec: corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{"kubernetes"}}}},
	})
}
