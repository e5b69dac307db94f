package job_test

import (
	"context"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/test/await"
)

// The failed pod of an index is kept until the next pod of the index exists. None is created in a namespace that is
// being deleted, and the deletion of the namespace waits for the pod.
func TestAPodIsNotKeptForAnotherThatItsNamespaceWillNotHave(t *testing.T) {
	e := start(t, quick(), always(run))
	ctx := context.Background()
	j := newJob("j", pods(1, 1), indexed, func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = ptr.To[int32](1) })
	e.create(j)
	await.Until(e.t, "the pod to run", func() bool {
		found := e.podList()
		return len(found) == 1 && found[0].Status.Phase == corev1.PodRunning
	}, e.describePods)
	if err := e.api.CoreV1().Namespaces().Delete(ctx, e.namespace(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := e.api.CoreV1().Pods(e.namespace()).Delete(ctx, e.podList()[0].Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await.Until(e.t, "the pod to be gone", func() bool { return len(e.podList()) == 0 }, e.describePods)
}
