package model_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// TestAFailedPodIsReplacedWhenItsDelayIsOver: no sooner and no later. On a real clock none but "no sooner" can be told,
// since a slow machine is always later.
func TestAFailedPodIsReplacedWhenItsDelayIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		annotations map[string]string
		spec        batchv1.JobSpec
		// seconds are the delays after each failure in a row.
		seconds []int
	}{
		"doubling up to ten minutes":     {nil, batchv1.JobSpec{}, []int{10, 20, 40, 80, 160, 320, 600, 600}},
		"as asked for":                   {map[string]string{backoffSeconds: "3"}, batchv1.JobSpec{}, []int{3, 6, 12, 24, 48, 96, 192, 384, 600, 600}},
		"not at all":                     {map[string]string{backoffSeconds: "0"}, batchv1.JobSpec{}, []int{0, 0, 0}},
		"no longer than asked for":       {map[string]string{maxBackoffSeconds: "30"}, batchv1.JobSpec{}, []int{10, 20, 30, 30}},
		"longer than by itself":          {map[string]string{backoffSeconds: "1800", maxBackoffSeconds: "7200"}, batchv1.JobSpec{}, []int{1800, 3600, 7200, 7200}},
		"of an index, doubling likewise": {nil, batchv1.JobSpec{CompletionMode: ptr.To(batchv1.IndexedCompletion), BackoffLimitPerIndex: ptr.To[int32](20)}, []int{10, 20, 40, 80, 160, 320, 600, 600}},
	} {
		t.Run(name, func(t *testing.T) {
			c.spec.Completions, c.spec.BackoffLimit = ptr.To[int32](1), ptr.To[int32](20)
			c.spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}
			why := play(t, func(w *world) {
				w.createJob(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: jobName, Annotations: c.annotations}, Spec: c.spec})
				w.start(0, 0)
				w.Rest()
				for _, seconds := range c.seconds {
					w.failActivePod()
					w.expectPodAfter(time.Duration(seconds) * time.Second)
				}
			})
			if why != nil {
				t.Fatal(why)
			}
		})
	}
}

func (w *world) activePods() (list []*corev1.Pod) {
	for _, p := range w.pods.All() {
		if active(p) {
			list = append(list, p)
		}
	}
	return list
}

func (w *world) failActivePod() {
	p := w.activePods()[0]
	w.run(p)
	w.exit(w.pod(p.Name), 1)
}

// moment is what the server takes for an answer here.
const moment = time.Millisecond

// goOn lets time go by while the server answers.
func (w *world) goOn(d time.Duration) {
	for range d / moment {
		w.Rest()
		w.Pass(moment)
	}
	w.Rest()
}

// expectPodAfter expects a pod after a delay from now, and none before.
func (w *world) expectPodAfter(delay time.Duration) {
	const counting, answers = 2 * time.Second, 5 * moment
	if delay > 0 {
		w.goOn(counting) // Then nothing is left to do.
		w.Pass(delay - counting - moment)
		w.Rest()
		if n := len(w.activePods()); n != 0 {
			w.Fail("%d pods before the delay of %s is over", n, delay)
		}
		w.Pass(moment)
	}
	w.goOn(answers)
	if n := len(w.activePods()); n != 1 {
		w.Fail("%d pods after the delay of %s", n, delay)
	}
	w.goOn(time.Second - answers + counting) // The end of the next pod is a whole second.
}
