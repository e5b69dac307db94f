package model_test

import (
	"testing"
	"time"

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

// failing is a Job that its first failure ends.
func failing(annotations map[string]string) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: jobName, Annotations: annotations}, Spec: batchv1.JobSpec{
		BackoffLimit: ptr.To[int32](0),
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}
}

func (w *world) failOnlyPod() {
	name := w.server.pods.names()[0]
	w.run(w.server.pods.objects[name])
	w.exit(w.server.pods.objects[name], 1)
}

func TestFailedPodsThatAreShownBeforeTheirJobAreNotForgotten(t *testing.T) {
	why := play(t, func(w *world) {
		w.createJob(failing(nil))
		w.start(0, 0)
		w.rest()
		w.failOnlyPod()
		w.rest()
		w.leave(w.processes[0])
		_ = w.server.updateJob(jobName, func(j *batchv1.Job) { j.Annotations = map[string]string{failedPodsLimit: "0"} })
		w.start(0, 0) // The second one hears of the pods first.
		w.settle()
	})
	if why != nil {
		t.Fatal(why)
	}
}

func TestAFailedPodThatIsShownAfterTheEndOfItsJobGoes(t *testing.T) {
	why := play(t, func(w *world) {
		w.createJob(failing(map[string]string{failedPodsLimit: "0"}))
		w.start(0, 0)
		w.rest()
		w.failOnlyPod()
		p := w.processes[0]
		bring(w, p.pods, p.pods.behind(), false)
		for range 5 {
			w.work()
			bring(w, p.jobs, p.jobs.behind(), false)
			w.pass(time.Second)
		}
		if !finished(w.server.jobs.objects[jobName]) {
			w.fail("the Job goes on")
		}
		w.settle()
	})
	if why != nil {
		t.Fatal(why)
	}
}
