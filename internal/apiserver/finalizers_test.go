package apiserver_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFinalizersTellWhoseTheyAre(t *testing.T) {
	maps := configMaps(t, start(t))
	for name, allowed := range map[string]bool{"example.com/f": true, "foregroundDeletion": true, "f": false} {
		object := configMap("", nil)
		object.GenerateName, object.Finalizers = "m-", []string{name}
		_, err := maps.Create(t.Context(), object, metav1.CreateOptions{})
		if apierrors.IsInvalid(err) == allowed {
			t.Errorf("a creation with the finalizer %s: %v", name, err)
		}
	}
	stored := must[*corev1.ConfigMap](t)(maps.Create(t.Context(), configMap("m", nil), metav1.CreateOptions{}))
	stored.Finalizers = []string{"f"}
	if _, err := maps.Update(t.Context(), stored, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("an update to the finalizer f: %v", err)
	}
}

func TestAllMistakesOfACreationAreTold(t *testing.T) {
	object := configMap("", nil)
	object.GenerateName, object.Labels = "No Name", map[string]string{"a b": "c"}
	_, err := configMaps(t, start(t)).Create(t.Context(), object, metav1.CreateOptions{})
	var fields []string
	status, _ := err.(apierrors.APIStatus)
	if status == nil {
		t.Fatalf("the creation ended with %v", err)
	}
	for _, cause := range status.Status().Details.Causes {
		fields = append(fields, cause.Field)
	}
	if diff := cmp.Diff([]string{"metadata.generateName", "metadata.name", "metadata.labels"}, fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}
