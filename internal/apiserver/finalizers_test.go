package apiserver_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestFinalizersNeedADomain(t *testing.T) {
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

func TestAllErrorsOfACreationAreReported(t *testing.T) {
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

// kubernetes/kubernetes#127917: no request could remove the finalizer of a terminating pod.
func TestEveryRequestGetsTheFinalizerOffAPodThatIsDeleted(t *testing.T) {
	pods := start(t).clientset(t).CoreV1().Pods("default")
	none := []byte(`{"metadata":{"finalizers":null}}`)
	patch := func(kind types.PatchType, body []byte) func(*corev1.Pod) error {
		return func(p *corev1.Pod) error {
			_, err := pods.Patch(t.Context(), p.Name, kind, body, metav1.PatchOptions{})
			return err
		}
	}
	for name, request := range map[string]func(*corev1.Pod) error{
		"merge":     patch(types.MergePatchType, none),
		"strategic": patch(types.StrategicMergePatchType, none),
		"json":      patch(types.JSONPatchType, []byte(`[{"op":"remove","path":"/metadata/finalizers"}]`)),
		"update": func(p *corev1.Pod) error {
			p.Finalizers = nil
			_, err := pods.Update(t.Context(), p, metav1.UpdateOptions{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := pod(name)
			p.Finalizers = []string{batchv1.JobTrackingFinalizer}
			must[*corev1.Pod](t)(pods.Create(t.Context(), p, metav1.CreateOptions{}))
			if err := pods.Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
				t.Fatal(err)
			}
			if err := request(must[*corev1.Pod](t)(pods.Get(t.Context(), name, metav1.GetOptions{}))); err != nil {
				t.Fatal(err)
			}
			if _, err := pods.Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("get: %v, want NotFound", err)
			}
		})
	}
}
