package model_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestAPodKeepsItsFinalizerWhileTheStatusThatListsItIsPutOff(t *testing.T) {
	why := play(t, func(w *world) {
		w.createJob(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: jobName}, Spec: batchv1.JobSpec{
			Parallelism: ptr.To[int32](2), Completions: ptr.To[int32](9),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}})
		w.start(0, 0)
		w.Rest()
		for _, name := range w.podNames() {
			w.run(w.pod(name))
			w.exit(w.pod(name), 0)
			w.Rest()
			w.Pass(time.Millisecond)
			w.Rest()
		}
		w.settle()
	})
	if why != nil {
		t.Fatal(why)
	}
}
