package apiserver_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podstatus"
)

// kubectl prints the warnings of a server to standard error, and the log to standard output.
func TestAClientThatReadsAnIncompleteLogIsWarned(t *testing.T) {
	r := startIn(t, t.TempDir(), echo{})
	client := r.clientset(t)
	j := job("one")
	j.Spec.Suspend = ptr.To(true)
	j.Spec.Template.Spec.Containers[0].Name = "c"
	j = must[*batchv1.Job](t)(client.BatchV1().Jobs("default").Create(t.Context(), j, metav1.CreateOptions{}))
	for _, name := range []string{"whole", "part"} {
		r.ran(t, j, name, "", 1)
	}
	must[*stintv1.ResultSlice](t)(r.Client().ResultSlices().Create(t.Context(), &stintv1.ResultSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "one-", OwnerReferences: []metav1.OwnerReference{core.ControllerRef(j)},
			Labels: map[string]string{batchv1.ControllerUidLabel: string(j.UID)}},
		Results: []stintv1.PodResult{{Pod: "gone", UID: "1", Phase: corev1.PodFailed, StartedAt: ptr.To(metav1.Unix(1, 0))}},
	}))
	pods := client.CoreV1().Pods("default")
	part := must[*corev1.Pod](t)(pods.Get(t.Context(), "part", metav1.GetOptions{}))
	part.Status.Conditions = append(part.Status.Conditions, corev1.PodCondition{Type: podstatus.LogsIncomplete, Status: corev1.ConditionTrue, Message: "7 bytes"})
	must[*corev1.Pod](t)(pods.UpdateStatus(t.Context(), part, metav1.UpdateOptions{}))
	const ofPod, ofJob = "/api/v1/namespaces/default/pods/", "/apis/batch/v1/namespaces/default/jobs/one/log?pod="
	const ofPart, ofGone = "the logs of pod part are incomplete: 7 bytes", "the logs of pod gone are incomplete"
	for path, want := range map[string]string{
		ofPod + "whole/log":      "",
		ofPod + "part/log":       ofPart,
		ofJob + "whole":          "",
		ofJob + "part":           ofPart,
		ofJob + "part&attempt=1": ofPart,
		ofJob + "gone":           ofGone,
	} {
		result := client.CoreV1().RESTClient().Get().RequestURI(path).Do(t.Context())
		got := ""
		for _, w := range result.Warnings() {
			got += w.Text
		}
		if text, err := result.Raw(); err != nil || len(text) == 0 || got != want {
			t.Errorf("%s: warned %q, want %q; the log is %q, %v", path, got, want, text, err)
		}
	}
}
