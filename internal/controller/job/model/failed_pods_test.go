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
		w.Rest()
		for _, name := range w.podNames() {
			w.run(w.pod(name))
			w.exit(w.pod(name), 1)
		}
		w.serveUntil("delete pod")
		going := w.Waiting()[0].Name
		for _, name := range w.podNames() {
			if name != going {
				w.deletePod(w.pod(name), 0)
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
	name := w.podNames()[0]
	w.run(w.pod(name))
	w.exit(w.pod(name), 1)
}

func TestFailedPodsThatAreShownBeforeTheirJobAreNotForgotten(t *testing.T) {
	why := play(t, func(w *world) {
		w.createJob(failing(nil))
		w.start(0, 0)
		w.Rest()
		w.failOnlyPod()
		w.Rest()
		w.Leave(w.Processes[0])
		_ = w.updateJob(jobName, func(j *batchv1.Job) { j.Annotations = map[string]string{failedPodsLimit: "0"} })
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
		w.Rest()
		w.failOnlyPod()
		p := w.process(0)
		w.Bring(p.pods, p.pods.Behind(), false)
		for range 5 {
			w.Work()
			w.Bring(p.jobs, p.jobs.Behind(), false)
			w.Pass(time.Second)
		}
		if !finished(w.job(jobName)) {
			w.Fail("the Job goes on")
		}
		w.settle()
	})
	if why != nil {
		t.Fatal(why)
	}
}
