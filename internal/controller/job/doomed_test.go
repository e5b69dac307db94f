package job_test

import (
	"context"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// The failed pod of an index waits for the next one, which is never made in a namespace that is being deleted; and the
// namespace waits for the pod.
func TestAPodIsNotKeptForAnotherThatItsNamespaceWillNotHave(t *testing.T) {
	e := start(t, quick(), always(run))
	ctx := context.Background()
	doomed := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "doomed"}}
	if _, err := e.api.CoreV1().Namespaces().Create(ctx, doomed, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	j := newJob("j", pods(1, 1), indexed, func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = ptr.To[int32](1) })
	j.Namespace = "doomed"
	e.create(j)
	list := func() []corev1.Pod {
		found, err := e.api.CoreV1().Pods("doomed").List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return found.Items
	}
	e.eventually("the pod to run", func(context.Context) bool {
		found := list()
		return len(found) == 1 && found[0].Status.Phase == corev1.PodRunning
	}, e.describePods)
	if err := e.api.CoreV1().Namespaces().Delete(ctx, "doomed", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := e.api.CoreV1().Pods("doomed").Delete(ctx, list()[0].Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.eventually("the pod to be gone", func(context.Context) bool { return len(list()) == 0 }, e.describePods)
}
