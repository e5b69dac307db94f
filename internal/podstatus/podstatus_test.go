package podstatus_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/podstatus"
	"github.com/stint-dev/stint/test/wrappers"
)

func at(second int) metav1.Time { return metav1.Unix(int64(second), 0) }

func aPod() *wrappers.PodWrapper { return wrappers.MakePod("p").CreationTimestamp(at(0)) }

func withSidecar(p *corev1.Pod, state corev1.ContainerState) {
	p.Spec.InitContainers = append(p.Spec.InitContainers,
		corev1.Container{Name: "side", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)})
	p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, corev1.ContainerStatus{Name: "side", State: state})
}

func TestTerminatedAt(t *testing.T) {
	for when, tt := range map[string]struct {
		pod  *corev1.Pod
		want int
	}{
		"its container terminated": {aPod().Exited(1, at(7)).DeletionTimestamp(at(0)).Obj(), 7},
		"it became not ready": {aPod().Conditions(corev1.PodCondition{
			Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: at(5)}).Obj(), 5},
		"its deletion was asked for": {aPod().With(func(p *corev1.Pod) {
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(at(40)), ptr.To[int64](30)
		}).Obj(), 10},
		"it was created": {aPod().Obj(), 0},
		"its sidecar terminated": {aPod().Exited(1, at(7)).With(func(p *corev1.Pod) {
			withSidecar(p, wrappers.Terminated(0, at(9)))
		}).Obj(), 9},
		"it was created, as its sidecar still runs": {aPod().Exited(1, at(7)).With(func(p *corev1.Pod) {
			withSidecar(p, corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
		}).Obj(), 0},
	} {
		if got := podstatus.TerminatedAt(tt.pod); !got.Equal(at(tt.want).Time) {
			t.Errorf("when %s: terminated at %v, want second %d", when, got.UTC().Format(time.TimeOnly), tt.want)
		}
	}
}

func TestHasStarted(t *testing.T) {
	for what, tt := range map[string]struct {
		status corev1.ContainerStatus
		want   bool
	}{
		"an empty status":            {corev1.ContainerStatus{}, false},
		"waiting":                    {corev1.ContainerStatus{State: waiting("ContainerCreating", "")}, false},
		"running":                    {corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}, true},
		"terminated":                 {corev1.ContainerStatus{State: wrappers.Terminated(1, at(1))}, true},
		"waiting for its restart":    {corev1.ContainerStatus{State: waiting("CrashLoopBackOff", ""), RestartCount: 1}, true},
		"waiting, terminated before": {corev1.ContainerStatus{State: waiting("", ""), LastTerminationState: wrappers.Terminated(1, at(1))}, true},
	} {
		if got := podstatus.HasStarted(&tt.status); got != tt.want {
			t.Errorf("%s: has started is %v", what, got)
		}
	}
}

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func TestAllStartedNeedsEveryMainContainer(t *testing.T) {
	pod := aPod().Exited(0, at(1)).Obj()
	if !podstatus.AllStarted(pod) {
		t.Error("the only container has terminated, so it has started")
	}
	pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "other"})
	if podstatus.AllStarted(pod) {
		t.Error("a container without a status counts as started")
	}
}

func TestInitContainersLeavesSidecarsOut(t *testing.T) {
	pod := aPod().With(func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "init"}}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init"}}
		withSidecar(p, corev1.ContainerState{})
	}).Obj()
	if got := podstatus.InitContainers(pod); len(got) != 1 || got[0].Name != "init" {
		t.Errorf("init containers: %v", got)
	}
	if got := podstatus.Sidecars(pod); len(got) != 1 || got[0].Name != "side" {
		t.Errorf("sidecars: %v", got)
	}
}

func TestWaitingReason(t *testing.T) {
	states := func(bound string, states ...corev1.ContainerState) *corev1.Pod {
		return aPod().With(func(p *corev1.Pod) {
			p.Spec.NodeName = bound
			for i, s := range states {
				p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: string(rune('a' + i)), State: s})
			}
		}).Obj()
	}
	unscheduled := states("", waiting("ContainerCreating", ""))
	unscheduled.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "no room"}}
	for what, tt := range map[string]struct {
		pod             *corev1.Pod
		reason, message string
	}{
		"not bound":                    {states(""), "Pending", "the pod is not bound to a node yet"},
		"no status yet":                {states("far"), "Pending", "node far has reported nothing about the pod yet"},
		"not scheduled":                {unscheduled, "Unschedulable", "no room"},
		"a reason alone":               {states("n", waiting("ContainerCreating", "")), "ContainerCreating", "container a"},
		"a message before a reason":    {states("n", waiting("ContainerCreating", ""), waiting("ErrImagePull", "gone")), "ErrImagePull", "container b: gone"},
		"what has started is left out": {states("n", wrappers.Terminated(1, at(1)), waiting("ErrImagePull", "gone")), "ErrImagePull", "container b: gone"},
	} {
		if reason, message := podstatus.WaitingReason(tt.pod); reason != tt.reason || message != tt.message {
			t.Errorf("%s: %q, %q; want %q, %q", what, reason, message, tt.reason, tt.message)
		}
	}
}

func TestIsRoutine(t *testing.T) {
	for _, tt := range []struct {
		state corev1.ContainerState
		want  bool
	}{
		{waiting("", ""), true},
		{waiting("PodInitializing", ""), true},
		{waiting("ContainerCreating", "the volume is missing"), false},
		{waiting("ErrImagePull", ""), false},
	} {
		if got := podstatus.IsRoutine(tt.state.Waiting); got != tt.want {
			t.Errorf("%+v: routine is %v", *tt.state.Waiting, got)
		}
	}
}
