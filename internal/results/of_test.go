package results_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/results"
)

func TestOf(t *testing.T) {
	containers := func(names ...string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers = nil
			for _, n := range names {
				p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: n})
			}
		}
	}
	status := func(change func(*corev1.PodStatus)) func(*corev1.Pod) {
		return func(p *corev1.Pod) { change(&p.Status) }
	}
	terminated := func(code int32) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", StartedAt: at(1), FinishedAt: at(2)}}
	}
	result := func(change func(*stintv1.PodResult)) stintv1.PodResult {
		r := stintv1.PodResult{Pod: "pod-0", UID: "uid-0", Node: "node", Phase: corev1.PodFailed, Container: "main", CreatedAt: ptr.To(at(0))}
		change(&r)
		return r
	}
	ran := func(code int32, more func(*stintv1.PodResult)) stintv1.PodResult {
		return result(func(r *stintv1.PodResult) {
			r.ExitCode, r.StartedAt, r.FinishedAt, r.Reason = ptr.To(code), ptr.To(at(0)), ptr.To(at(1)), "Error"
			more(r)
		})
	}
	for name, test := range map[string]struct {
		pod  []func(*corev1.Pod)
		want stintv1.PodResult
	}{
		"a pod that succeeded": {
			[]func(*corev1.Pod){index(7), exit(0), said("3.14")},
			ran(0, func(r *stintv1.PodResult) {
				r.Phase, r.Reason, r.Message, r.Index = corev1.PodSucceeded, "Completed", "3.14", ptr.To[int32](7)
			}),
		},
		"the first container that failed, as the pod names them": {
			[]func(*corev1.Pod){containers("a", "b", "c"), exit(0, 3, 4), status(func(s *corev1.PodStatus) {
				s.ContainerStatuses[0], s.ContainerStatuses[2] = s.ContainerStatuses[2], s.ContainerStatuses[0]
			})},
			ran(3, func(r *stintv1.PodResult) { r.Container, r.FinishedAt = "b", ptr.To(at(3)) }),
		},
		"a signal is read from the exit code": {
			[]func(*corev1.Pod){exit(137)},
			ran(137, func(r *stintv1.PodResult) { r.Signal = 9 }),
		},
		"the first signal": {
			[]func(*corev1.Pod){exit(129)},
			ran(129, func(r *stintv1.PodResult) { r.Signal = 1 }),
		},
		"an exit code before all signals is none": {
			[]func(*corev1.Pod){exit(128)},
			ran(128, func(*stintv1.PodResult) {}),
		},
		"some runtimes write 1970 for a container that never started": {
			[]func(*corev1.Pod){exit(128), status(func(s *corev1.PodStatus) {
				end := s.ContainerStatuses[0].State.Terminated
				end.Reason, end.StartedAt = "StartError", metav1.Unix(0, 0)
			})},
			result(func(r *stintv1.PodResult) {
				r.ExitCode, r.FinishedAt, r.Reason = ptr.To[int32](128), ptr.To(at(1)), "StartError"
			}),
		},
		"an exit code above all signals is none": {
			[]func(*corev1.Pod){exit(193)},
			ran(193, func(*stintv1.PodResult) {}),
		},
		"a signal that the runtime reports": {
			[]func(*corev1.Pod){exit(1), status(func(s *corev1.PodStatus) { s.ContainerStatuses[0].State.Terminated.Signal = 15 })},
			ran(1, func(r *stintv1.PodResult) { r.Signal = 15 }),
		},
		"the pod's reason goes before its container's": {
			[]func(*corev1.Pod){exit(143), status(func(s *corev1.PodStatus) { s.Reason, s.Message = "Evicted", "low on memory" })},
			ran(143, func(r *stintv1.PodResult) { r.Signal, r.Reason, r.Message = 15, "Evicted", "low on memory" }),
		},
		"a disruption is the pod's reason": {
			[]func(*corev1.Pod){exit(143), status(func(s *corev1.PodStatus) {
				s.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "PreemptionByScheduler", Message: "making room"}}
			})},
			ran(143, func(r *stintv1.PodResult) { r.Signal, r.Reason, r.Message = 15, "PreemptionByScheduler", "making room" }),
		},
		"an init container that failed": {
			[]func(*corev1.Pod){status(func(s *corev1.PodStatus) {
				s.Phase = corev1.PodFailed
				s.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init", State: terminated(5)}}
				s.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}}}
			}), func(p *corev1.Pod) { p.Spec.InitContainers = []corev1.Container{{Name: "init"}} }},
			result(func(r *stintv1.PodResult) {
				r.Container, r.ExitCode, r.Reason = "init", ptr.To[int32](5), "Error"
				r.StartedAt, r.FinishedAt = ptr.To(at(1)), ptr.To(at(2))
			}),
		},
		"a stopped sidecar does not matter": {
			[]func(*corev1.Pod){exit(0), status(func(s *corev1.PodStatus) {
				s.InitContainerStatuses = []corev1.ContainerStatus{{Name: "proxy", State: terminated(143)}}
			}), func(p *corev1.Pod) {
				p.Spec.InitContainers = []corev1.Container{{Name: "proxy", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
			}},
			ran(0, func(r *stintv1.PodResult) {
				r.Phase, r.Reason, r.FinishedAt = corev1.PodSucceeded, "Completed", ptr.To(at(2))
			}),
		},
		"a pod that never started": {
			[]func(*corev1.Pod){status(func(s *corev1.PodStatus) {
				s.Phase, s.Reason, s.Message = corev1.PodFailed, "PendingTimeout", "no such image"
				s.Conditions = []corev1.PodCondition{{Type: "x", LastTransitionTime: at(9)}}
			})},
			result(func(r *stintv1.PodResult) {
				r.Reason, r.Message, r.FinishedAt = "PendingTimeout", "no such image", ptr.To(at(9))
			}),
		},
		"a pod without a node": {
			[]func(*corev1.Pod){status(func(s *corev1.PodStatus) {
				s.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes"}}
			})},
			result(func(r *stintv1.PodResult) {
				r.Phase, r.Reason, r.Message = corev1.PodPending, "Unschedulable", "0/3 nodes"
			}),
		},
		"a container that waits to be started again reports how it ended": {
			[]func(*corev1.Pod){status(func(s *corev1.PodStatus) {
				s.Phase, s.StartTime = corev1.PodRunning, ptr.To(at(0))
				s.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: 2, LastTerminationState: terminated(1),
					State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off"}}}}
			})},
			result(func(r *stintv1.PodResult) {
				r.Phase, r.Restarts, r.ExitCode, r.StartedAt = corev1.PodRunning, 2, ptr.To[int32](1), ptr.To(at(0))
				r.Reason, r.Message = "CrashLoopBackOff", "back-off"
			}),
		},
		"a container that runs has not ended, whatever it did before": {
			[]func(*corev1.Pod){status(func(s *corev1.PodStatus) {
				s.Phase = corev1.PodRunning
				s.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: 1, LastTerminationState: terminated(1),
					State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(5)}}}}
			})},
			result(func(r *stintv1.PodResult) { r.Phase, r.Restarts, r.StartedAt = corev1.PodRunning, 1, ptr.To(at(1)) }),
		},
		"a pod without a status": {
			[]func(*corev1.Pod){func(p *corev1.Pod) { p.Spec.NodeName = "" }},
			result(func(r *stintv1.PodResult) { r.Phase, r.Node = corev1.PodPending, "" }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := results.Of(aPod(aJob(batchv1.IndexedCompletion), 0, test.pod...))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
