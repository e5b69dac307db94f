package pod

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

func TestNewPodStartsAfresh(t *testing.T) {
	pod := createdPod(func(p *corev1.Pod) {
		p.Generation = 4
		p.Finalizers = []string{"batch.kubernetes.io/job-tracking"}
		p.Status = corev1.PodStatus{Phase: corev1.PodSucceeded, PodIP: "10.0.0.1"}
	})
	if diff := cmp.Diff(corev1.PodStatus{Phase: corev1.PodPending, QOSClass: corev1.PodQOSBestEffort}, pod.Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if pod.Generation != 1 || pod.Spec.ServiceAccountName != "default" || *pod.Spec.Priority != 0 || len(pod.Finalizers) != 1 {
		t.Errorf("generation %d, account %q, priority %d, finalizers %v",
			pod.Generation, pod.Spec.ServiceAccountName, *pod.Spec.Priority, pod.Finalizers)
	}
}

func TestPodBehindGatesSaysSo(t *testing.T) {
	pod := createdPod(inSpec(func(s *corev1.PodSpec) { s.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota"}} }))
	want := []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "SchedulingGated",
		Message: "Scheduling is blocked due to non-empty scheduling gates",
	}}
	if pod.Status.Conditions[0].LastTransitionTime.IsZero() {
		t.Error("does not say since when")
	}
	want[0].LastTransitionTime = pod.Status.Conditions[0].LastTransitionTime
	if diff := cmp.Diff(want, pod.Status.Conditions); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func TestQualityOfService(t *testing.T) {
	for sentence, c := range map[string]struct {
		requests, limits corev1.ResourceList
		want             corev1.PodQOSClass
	}{
		"who asks for nothing gets what is left":      {nil, nil, corev1.PodQOSBestEffort},
		"who limits all he asks for is sure of it":    {nil, corev1.ResourceList{"cpu": amount("1"), "memory": amount("1Gi")}, corev1.PodQOSGuaranteed},
		"who may have more than he asks for may lose": {corev1.ResourceList{"cpu": amount("1")}, corev1.ResourceList{"cpu": amount("2")}, corev1.PodQOSBurstable},
	} {
		t.Run(sentence, func(t *testing.T) {
			pod := createdPod(inContainer(func(ctr *corev1.Container) { ctr.Resources.Requests, ctr.Resources.Limits = c.requests, c.limits }))
			if pod.Status.QOSClass != c.want {
				t.Errorf("%s, want %s", pod.Status.QOSClass, c.want)
			}
		})
	}
}

func TestGraceOfDeletion(t *testing.T) {
	bound := inSpec(func(s *corev1.PodSpec) { s.NodeName = "n1" })
	grace := func(seconds *int64) podEdit {
		return inSpec(func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = seconds })
	}
	phase := func(p corev1.PodPhase) podEdit { return func(pod *corev1.Pod) { pod.Status.Phase = p } }
	taken := func(pod *corev1.Pod) { pod.UID = "taken" }
	options := Options{IsRunByNode: func(pod *corev1.Pod) bool { return pod.UID == "taken" || pod.Spec.NodeName == "n1" }}
	for sentence, c := range map[string]struct {
		edits []podEdit
		asked *int64
		want  int64
	}{
		"a running pod gets its own":              {podEdits(bound, grace(ptr.To[int64](7))), nil, 7},
		"the request overrides it":                {podEdits(bound), ptr.To[int64](3), 3},
		"now means now":                           {podEdits(bound), ptr.To[int64](0), 0},
		"a pod on no node goes at once":           {nil, ptr.To[int64](3), 0},
		"so does one on a node that is not there": {podEdits(inSpec(func(s *corev1.PodSpec) { s.NodeName = "other" })), ptr.To[int64](3), 0},
		"unless the node has taken it":            {podEdits(taken, grace(ptr.To[int64](7))), nil, 7},
		"now means now to that one too":           {podEdits(taken), ptr.To[int64](0), 0},
		"a pod that succeeded, too":               {podEdits(bound, phase(corev1.PodSucceeded)), nil, 0},
		"a pod that failed, too":                  {podEdits(bound, phase(corev1.PodFailed)), nil, 0},
		"less than nothing is one second":         {podEdits(bound, grace(ptr.To[int64](-5))), nil, 1},
		"a pod without any goes at once":          {podEdits(bound, grace(nil)), nil, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			deletion := &metav1.DeleteOptions{GracePeriodSeconds: c.asked}
			graceful := Resource(options).CheckGracefulDelete(context.Background(), registrytest.Pod(c.edits...), deletion)
			if graceful != (c.want > 0) || *deletion.GracePeriodSeconds != c.want {
				t.Errorf("graceful %v, grace %d; want %d", graceful, *deletion.GracePeriodSeconds, c.want)
			}
		})
	}
}

func TestPodsAreSelectedByFields(t *testing.T) {
	pod := createdPod(inSpec(func(s *corev1.PodSpec) { s.NodeName, s.HostNetwork = "n1", true }))
	pod.Status.PodIP, pod.Status.NominatedNodeName = "10.0.0.1", "n2"
	want := map[string]string{
		"spec.nodeName": "n1", "spec.restartPolicy": "Never", "spec.schedulerName": "default-scheduler",
		"spec.serviceAccountName": "default", "spec.hostNetwork": "true",
		"status.phase": "Pending", "status.podIP": "10.0.0.1", "status.nominatedNodeName": "n2",
	}
	if diff := cmp.Diff(want, map[string]string(Resource(Options{}).Fields(pod))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
