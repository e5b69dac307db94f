package pod

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

func waiting(name, reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
}

func endedBecause(name, reason string) corev1.ContainerStatus {
	s := ended(name, 1)
	s.State.Terminated.Reason = reason
	return s
}

func ready(s corev1.ContainerStatus) corev1.ContainerStatus {
	s.Ready, s.Started = true, ptr.To(true)
	return s
}

func restarted(s corev1.ContainerStatus, count int32, when time.Duration) corev1.ContainerStatus {
	s.RestartCount = count
	s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{FinishedAt: registrytest.Ago(when)}
	return s
}

func containersAre(statuses ...corev1.ContainerStatus) podEdit {
	return func(p *corev1.Pod) { p.Status.ContainerStatuses = statuses }
}

func initContainersAre(statuses ...corev1.ContainerStatus) podEdit {
	return func(p *corev1.Pod) { p.Status.InitContainerStatuses = statuses }
}

func podIs(phase corev1.PodPhase) podEdit { return func(p *corev1.Pod) { p.Status.Phase = phase } }

func podHas(kind corev1.PodConditionType) podEdit {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue})
	}
}

func deleted(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: registrytest.Now} }

func TestPodRows(t *testing.T) {
	first := withInit(corev1.Container{Name: "first"})
	second := withInit(corev1.Container{Name: "second"})
	side := withInit(corev1.Container{Name: "side", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)})
	other := inSpec(func(s *corev1.PodSpec) {
		s.Containers = append(s.Containers, corev1.Container{Name: "other", Image: "busybox:1", Command: []string{"true"}})
	})
	done := endedBecause("main", "Completed")
	done.State.Terminated.ExitCode = 0
	killed := ended("main", 137)
	killed.State.Terminated.Signal = 9

	for sentence, c := range map[string]struct {
		edits                   []podEdit
		ready, status, restarts string
	}{
		"a new pod is pending":                   {nil, "0/1", "Pending", "0"},
		"a pod behind a gate says so":            {podEdits(inSpec(func(s *corev1.PodSpec) { s.SchedulingGates = []corev1.PodSchedulingGate{{Name: "a"}} })), "0/1", "SchedulingGated", "0"},
		"a pod that is made ready says so":       {podEdits(containersAre(waiting("main", "ContainerCreating"))), "0/1", "ContainerCreating", "0"},
		"a pod runs":                             {podEdits(podIs("Running"), containersAre(ready(running("main")))), "1/1", "Running", "0"},
		"a pod completed":                        {podEdits(podIs("Succeeded"), containersAre(done)), "0/1", "Completed", "0"},
		"a pod failed":                           {podEdits(podIs("Failed"), containersAre(endedBecause("main", "Error"))), "0/1", "Error", "0"},
		"a pod wanted too much memory":           {podEdits(podIs("Failed"), containersAre(endedBecause("main", "OOMKilled"))), "0/1", "OOMKilled", "0"},
		"a pod ended for no reason":              {podEdits(podIs("Failed"), containersAre(ended("main", 3))), "0/1", "ExitCode:3", "0"},
		"a pod was killed":                       {podEdits(podIs("Failed"), containersAre(killed)), "0/1", "Signal:9", "0"},
		"a pod ran out of time":                  {podEdits(podIs("Failed"), func(p *corev1.Pod) { p.Status.Reason = "DeadlineExceeded" }), "0/1", "DeadlineExceeded", "0"},
		"a pod starts again and again":           {podEdits(podIs("Running"), containersAre(restarted(waiting("main", "CrashLoopBackOff"), 2, 30*time.Second))), "0/1", "CrashLoopBackOff", "2 (30s ago)"},
		"restarts without a time are counted":    {podEdits(podIs("Running"), containersAre(corev1.ContainerStatus{Name: "main", RestartCount: 2})), "0/1", "Running", "2"},
		"restarts add up, the last one counts":   {podEdits(other, podIs("Running"), containersAre(restarted(ready(running("main")), 1, time.Hour), restarted(ready(running("other")), 2, time.Minute))), "2/2", "Running", "3 (60s ago)"},
		"the first container speaks last":        {podEdits(other, podIs("Failed"), containersAre(endedBecause("main", "Error"), endedBecause("other", "OOMKilled"))), "0/2", "Error", "0"},
		"one of two has ended":                   {podEdits(other, podIs("Running"), containersAre(done, ready(running("other")))), "1/2", "NotReady", "0"},
		"one of two has ended, the pod is ready": {podEdits(other, podIs("Running"), podHas(corev1.PodReady), containersAre(done, ready(running("other")))), "1/2", "Running", "0"},
		"the first of two is being done":         {podEdits(first, second, initContainersAre(running("first"), waiting("second", "PodInitializing"))), "0/1", "Init:0/2", "0"},
		"the second of two is being done":        {podEdits(first, second, initContainersAre(ended("first", 0), running("second")), containersAre(waiting("main", "PodInitializing"))), "0/1", "Init:1/2", "0"},
		"the first failed":                       {podEdits(first, podIs("Failed"), initContainersAre(endedBecause("first", "Error"))), "0/1", "Init:Error", "0"},
		"the first failed for no reason":         {podEdits(first, podIs("Failed"), initContainersAre(ended("first", 3))), "0/1", "Init:ExitCode:3", "0"},
		"the first starts again and again":       {podEdits(first, initContainersAre(restarted(waiting("first", "CrashLoopBackOff"), 4, time.Minute))), "0/1", "Init:CrashLoopBackOff", "4 (60s ago)"},
		"what prepared the pod is forgotten":     {podEdits(first, podIs("Running"), initContainersAre(restarted(ended("first", 0), 4, time.Minute)), containersAre(ready(running("main")))), "1/1", "Running", "0"},
		"a sidecar counts as a container":        {podEdits(side, podIs("Running"), initContainersAre(restarted(ready(running("side")), 1, time.Minute)), containersAre(ready(running("main")))), "2/2", "Running", "1 (60s ago)"},
		"a sidecar that does not run":            {podEdits(side, podIs("Pending"), initContainersAre(running("side"))), "0/2", "Init:0/1", "0"},
		"a pod is being deleted":                 {podEdits(podIs("Running"), deleted, containersAre(ready(running("main")))), "1/1", "Terminating", "0"},
		"a pod that ended is not":                {podEdits(podIs("Succeeded"), deleted, containersAre(done)), "0/1", "Completed", "0"},
		"a pod whose node is lost":               {podEdits(podIs("Running"), deleted, func(p *corev1.Pod) { p.Status.Reason = "NodeLost" }), "0/1", "Unknown", "0"},
	} {
		t.Run(sentence, func(t *testing.T) {
			pod := createdPod()
			for _, edit := range c.edits {
				edit(pod)
			}
			if len(pod.Spec.SchedulingGates) > 0 {
				prepareForCreate(t.Context(), pod)
			}
			row := row(pod, registrytest.Now)
			if diff := cmp.Diff([]any{c.ready, c.status, c.restarts}, row[1:4]); diff != "" {
				t.Errorf("ready, status, restarts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWholePodRow(t *testing.T) {
	pod := createdPod(inSpec(func(s *corev1.PodSpec) {
		s.NodeName, s.ReadinessGates = "n1", []corev1.PodReadinessGate{{ConditionType: "a"}, {ConditionType: "b"}}
	}))
	podHas("b")(pod)
	pod.Status.PodIP, pod.CreationTimestamp = "10.0.0.1", registrytest.Ago(3*time.Minute)
	want := []any{"pi", "0/1", "Pending", "0", "3m", "10.0.0.1", "n1", "<none>", "1/2"}
	if diff := cmp.Diff(want, row(pod, registrytest.Now)); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Name", "Ready", "Status", "Restarts", "Age"}, registrytest.ColumnNames(columns, 0)); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"IP", "Node", "Nominated Node", "Readiness Gates"}, registrytest.ColumnNames(columns, 1)); diff != "" {
		t.Errorf("wide columns (-want +got):\n%s", diff)
	}
}
