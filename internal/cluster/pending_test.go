package cluster_test

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobcontroller "github.com/stint-dev/stint/internal/controller/job"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/kube"
)

// pullFails is the status of a pod that waits for its image. The pod is ready, too, so that status.ready of the Job shows that the
// controller has observed it.
const pullFails = `{"status":{"conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"main","image":"busybox","imageID":"",
	"state":{"waiting":{"reason":"ImagePullBackOff","message":"no such image"}}}]}}`

func TestClusterFailsPodsThatDoNotStart(t *testing.T) {
	c := kube.Shared(t)
	n := newNode(t, c)
	controller(t, c, "", "--leader-elect=false").awaitReady(t)
	limits := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
		Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
	}}}}
	if _, err := n.CoreV1().LimitRanges(n.namespace).Create(t.Context(), limits, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	refused := newJob("refused", jobcontroller.ManagedBy, func(s *batchv1.JobSpec) {
		memory := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")}
		s.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: memory, Limits: memory}
	})
	refused.Annotations = map[string]string{core.PendingTimeoutSeconds: "2"}
	n.create(t, refused)
	n.awaitJob(t, "refused", "to fail for the refusal", failedFor(core.PendingTimeoutReason, "maximum memory usage per Container is 1Gi"))

	n.hold("stuck", 0)
	n.create(t, newJob("stuck", jobcontroller.ManagedBy, func(s *batchv1.JobSpec) { s.BackoffLimit = ptr.To[int32](0) }))
	await.Until(t, "the pod", func() bool { return n.made("stuck") == 1 })
	n.mu.Lock()
	pod := n.held["stuck"][0]
	n.mu.Unlock()
	if _, err := n.CoreV1().Pods(n.namespace).Patch(t.Context(), pod.Name, types.StrategicMergePatchType, []byte(pullFails), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	n.awaitJob(t, "stuck", "to know what its pod waits for", func(job *batchv1.Job) bool { return ptr.Deref(job.Status.Ready, 0) == 1 })
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"1"}}}`, core.PendingTimeoutSeconds)
	if _, err := n.BatchV1().Jobs(n.namespace).Patch(t.Context(), "stuck", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	n.awaitJob(t, "stuck", "to fail for its pod", failedFor(batchv1.JobReasonBackoffLimitExceeded, "backoff limit"))
	failed, err := n.CoreV1().Pods(n.namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s := failed.Status; s.Phase != corev1.PodFailed || s.Reason != core.PendingTimeoutReason || !strings.Contains(s.Message, "ImagePullBackOff: container main: no such image") {
		t.Errorf("pod %s, %s: %s", s.Phase, s.Reason, s.Message)
	}
}

// failedFor returns whether a Job has failed with this reason and with words in its message.
func failedFor(reason, words string) func(*batchv1.Job) bool {
	return func(job *batchv1.Job) bool {
		for _, c := range job.Status.Conditions {
			if c.Type == batchv1.JobFailed && c.Reason == reason && strings.Contains(c.Message, words) {
				return true
			}
		}
		return false
	}
}
