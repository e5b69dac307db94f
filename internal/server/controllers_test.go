package server_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/server"
)

func TestOnlyTheControllersThatAreAskedForRun(t *testing.T) {
	s, _ := start(t, server.Options{DataDir: t.TempDir(), Controllers: []string{"garbage-collector", "ttl-after-finished"}})
	c := clientOf(t, s)
	j := job("ends-by-hand")
	j.Spec.Template.Spec.Containers[0].Command = []string{"true"}
	j.Spec.Completions, j.Spec.TTLSecondsAfterFinished = ptr.To[int32](0), ptr.To[int32](0)
	j, err := c.BatchV1().Jobs("default").Create(t.Context(), j, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	now := metav1.Now()
	j.Status = batchv1.JobStatus{StartTime: &now, CompletionTime: &now, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{}}
	for _, condition := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	// If the Job controller ran, it would have written the status, and this would be a conflict.
	if _, err := c.BatchV1().Jobs("default").UpdateStatus(t.Context(), j, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, c, "ends-by-hand")
	events, err := c.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(events.Items) > 0 {
		t.Errorf("events %v, %v: the Job controller runs", events.Items, err)
	}
}
