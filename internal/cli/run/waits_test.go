package run

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/test/wrappers"
)

// podThat returns a scheduled pod whose container waits.
func podThat(name, reason, message string) *corev1.Pod {
	return wrappers.MakePod(name).UID(types.UID(name)).NodeName("here").Phase(corev1.PodPending).
		ContainerStatuses(corev1.ContainerStatus{State: wrappers.Waiting(reason, message)}).Obj()
}

func unplaced(name, reason string) *corev1.Pod {
	return wrappers.MakePod(name).UID(types.UID(name)).Conditions(corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: "no cpu"}).Obj()
}

func running(name string) *corev1.Pod {
	pod := podThat(name, "", "")
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	return pod
}

func TestWaitReasonOf(t *testing.T) {
	for sentence, tc := range map[string]struct {
		pod  *corev1.Pod
		want waitReason
	}{
		"a ConfigMap that is missing":           {podThat("p", "CreateContainerConfigError", "gone"), waitReason{"CreateContainerConfigError", "gone", false}},
		"a volume that cannot be mounted":       {podThat("p", "ContainerCreating", "no dir"), waitReason{"ContainerCreating", "no dir", false}},
		"a container that fails over and over":  {podThat("p", "CrashLoopBackOff", ""), waitReason{"CrashLoopBackOff", "", false}},
		"a container that is being made":        {podThat("p", "ContainerCreating", ""), waitReason{}},
		"a container behind those that prepare": {podThat("p", "PodInitializing", ""), waitReason{}},
		"a pod that finds no node":              {unplaced("p", "Unschedulable"), waitReason{"Unschedulable", "no cpu", true}},
		"a pod that is held back":               {unplaced("p", "SchedulingGated"), waitReason{"SchedulingGated", "no cpu", true}},
		"a pod that runs":                       {running("p"), waitReason{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := waitReasonOf(tc.pod); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// told observes pods and returns what is shown about them.
func told(w *waitingPods, queues bool, pods ...*corev1.Pod) []string {
	for _, pod := range pods {
		w.observe(pod, false)
	}
	var said []string
	waits, more := w.unprinted(queues)
	for _, p := range waits {
		said = append(said, p.name+" "+p.reason)
	}
	if more > 0 {
		said = append(said, fmt.Sprintf("%d more", more))
	}
	return said
}

func many(n int) []*corev1.Pod {
	var pods []*corev1.Pod
	for i := range n {
		pods = append(pods, podThat(fmt.Sprintf("p%02d", i), "Wrong", "x"))
	}
	return pods
}

func TestWaitsAreShownOnce(t *testing.T) {
	for sentence, tc := range map[string]struct {
		queues bool
		steps  [][]*corev1.Pod
		want   [][]string
	}{
		"a reason is told once, another one too": {true,
			[][]*corev1.Pod{{podThat("p", "A", "x")}, {podThat("p", "A", "y")}, {podThat("p", "B", "")}, {podThat("p", "A", "")}},
			[][]string{{"p A"}, nil, {"p B"}, nil}},
		"five pods at a time, the others are counted when they have doubled": {true,
			[][]*corev1.Pod{many(7), many(8), many(9)},
			[][]string{{"p00 Wrong", "p01 Wrong", "p02 Wrong", "p03 Wrong", "p04 Wrong", "2 more"}, nil, {"4 more"}}},
		"a pod that runs makes room": {true,
			[][]*corev1.Pod{many(6), {running("p00")}},
			[][]string{{"p00 Wrong", "p01 Wrong", "p02 Wrong", "p03 Wrong", "p04 Wrong", "1 more"}, {"p05 Wrong"}}},
		"having no node is told once for the Job": {true,
			[][]*corev1.Pod{{unplaced("p", "Unschedulable"), unplaced("q", "Unschedulable")}, {unplaced("r", "Unschedulable")}},
			[][]string{{"p Unschedulable"}, nil}},
		"a turn that comes is not told": {true,
			[][]*corev1.Pod{{running("p"), unplaced("q", "Unschedulable")}}, [][]string{nil}},
		"nor one of a run whose other Jobs have told enough": {false,
			[][]*corev1.Pod{{unplaced("q", "Unschedulable")}}, [][]string{nil}},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWaits()
			var got [][]string
			for _, pods := range tc.steps {
				got = append(got, told(w, tc.queues, pods...))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPodsThatNeverRan(t *testing.T) {
	w := newWaits()
	told(w, true, append(many(5), unplaced("a", "Unschedulable"), podThat("ran", "CrashLoopBackOff", ""), podThat("late", "Wrong", ""))...)
	ran := podThat("ran", "CrashLoopBackOff", "")
	ran.Status.ContainerStatuses[0].RestartCount = 1
	told(w, true, ran, running("late"))
	w.observe(podThat("p00", "Wrong", "x"), true)
	w.observe(running("late"), true)
	some, more := w.neverRan(output.Job{Name: "j"})
	var names []string
	for _, p := range some {
		names = append(names, p.Pod)
	}
	if diff := cmp.Diff([]string{"p00", "p01", "p02", "p03", "p04"}, names); diff != "" || more != 1 {
		t.Errorf("%d more, %s", more, diff)
	}
}

func TestWatchedPods(t *testing.T) {
	for sentence, tc := range map[string]struct {
		logs        Logs
		completions int32
		want        string
	}{
		"all logs need all pods":                    {LogsAll, 5000, ""},
		"a small run without logs may have to wait": {LogsNone, 1000, "status.phase!=Succeeded"},
		"a large one hears of failures only":        {LogsFailed, 1001, "status.phase=Failed"},
	} {
		t.Run(sentence, func(t *testing.T) {
			job := &batchv1.Job{Spec: batchv1.JobSpec{Completions: &tc.completions}}
			r := &tracker{byUID: map[types.UID]*trackedJob{"u": {job: job}}}
			if got := watchedPods(tc.logs, "a=b", r.fewPods()).FieldSelector; got != tc.want {
				t.Errorf("watches %q, want %q", got, tc.want)
			}
		})
	}
}
