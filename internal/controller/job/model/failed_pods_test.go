package model_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// TestAFailedPodGoesThoughAUserDeletesANewerOneAtOnce: nobody can know of what happens while a request is under way.
func TestAFailedPodGoesThoughAUserDeletesANewerOneAtOnce(t *testing.T) {
	why := play(t, func(w *world) {
		w.createJob(&batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: jobName, Annotations: map[string]string{failedPodsLimit: "1"}},
			Spec: batchv1.JobSpec{
				Completions: ptr.To[int32](2), Parallelism: ptr.To[int32](2), BackoffLimit: ptr.To[int32](0),
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}})
		w.start(0, 0)
		w.rest()
		for _, name := range w.server.pods.names() {
			w.run(w.server.pods.objects[name])
			w.exit(w.server.pods.objects[name], 1)
		}
		w.serveUntil("delete pod")
		going := w.requests.list()[0].object
		for _, name := range w.server.pods.names() {
			if name != going {
				w.deletePod(w.server.pods.objects[name], 0)
			}
		}
		w.settle()
	})
	if why != nil {
		t.Fatal(why)
	}
}
