package scheduledjob

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/test/wrappers"
)

var theRun = wrappers.MakeJob("report-now").UID("run-uid").Obj()

// aPod is a failed pod of an index, created this many seconds after noon.
func aPod(index, created int, statuses ...corev1.ContainerStatus) *corev1.Pod {
	return wrappers.MakePod("p" + strconv.Itoa(created)).Controller(theRun).Index(index).CreationTimestamp(metav1.NewTime(at(created))).
		Phase(corev1.PodFailed).ContainerStatuses(statuses...).Obj()
}

func exited(name string, code int32, second int) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: wrappers.Terminated(code, metav1.NewTime(at(second)))}
}

func succeeded(p *corev1.Pod) *corev1.Pod {
	p.Status.Phase = corev1.PodSucceeded
	return p
}

// after annotates a pod with how many pods of its index failed before it and were counted or ignored.
func after(counted, ignored int, p *corev1.Pod) *corev1.Pod {
	return wrappers.FromPod(p).IndexFailureCount(counted).IndexIgnoredFailureCount(ignored).Obj()
}

func TestExitCodes(t *testing.T) {
	running := aPod(0, 2)
	running.Status.Phase = corev1.PodRunning
	other := aPod(0, 3, exited("main", 9, 4))
	other.OwnerReferences[0].UID = "another"
	withInit := aPod(0, 0)
	withInit.Status.InitContainerStatuses = []corev1.ContainerStatus{exited("init", 4, 1)}
	sidecar := aPod(0, 0, exited("main", 3, 2))
	sidecar.Spec.InitContainers = []corev1.Container{{Name: "proxy", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
	sidecar.Status.InitContainerStatuses = []corev1.ContainerStatus{exited("proxy", 143, 1)}
	many := []*corev1.Pod{}
	for i := range 400 {
		many = append(many, aPod(2*i, 0, exited("main", 1, 1)))
	}
	colourful := []*corev1.Pod{aPod(0, 0, exited("main", 77, 1)), aPod(1, 0, exited("main", 77, 1))}
	for i := range 40 {
		colourful = append(colourful, aPod(2+i, 0, exited("main", int32(i+1), 1)))
	}

	tests := map[string]struct {
		pods []*corev1.Pod
		want []stintv1.ExitCode
	}{
		"no pods": {nil, nil},
		"all went well": {
			[]*corev1.Pod{succeeded(aPod(0, 0)), succeeded(aPod(1, 0)), succeeded(aPod(2, 0))},
			[]stintv1.ExitCode{{Code: 0, Pods: 3, Indexes: "0-2"}},
		},
		"some did not": {
			[]*corev1.Pod{aPod(2, 0, exited("main", 7, 1)), succeeded(aPod(1, 0)), aPod(0, 0, exited("main", 7, 1))},
			[]stintv1.ExitCode{{Code: 0, Pods: 1, Indexes: "1"}, {Code: 7, Pods: 2, Indexes: "0,2"}},
		},
		"the last pod of an index counts": {
			[]*corev1.Pod{succeeded(aPod(0, 9)), aPod(0, 1, exited("main", 7, 1))},
			[]stintv1.ExitCode{{Code: 0, Pods: 1, Indexes: "0"}},
		},
		"a pod that succeeded is the last, even if its times say otherwise": {
			[]*corev1.Pod{succeeded(aPod(0, 0)), aPod(0, 0, exited("main", 7, 0)), succeeded(aPod(1, 0)), aPod(1, 9, exited("main", 7, 9))},
			[]stintv1.ExitCode{{Code: 0, Pods: 2, Indexes: "0,1"}},
		},
		"the one before which more have failed is later, even if its times say otherwise": {
			[]*corev1.Pod{after(1, 0, aPod(0, 0, exited("main", 8, 0))), after(0, 0, aPod(0, 5, exited("main", 7, 6))),
				after(1, 1, aPod(1, 0, exited("main", 8, 0))), after(1, 0, aPod(1, 5, exited("main", 7, 6)))},
			[]stintv1.ExitCode{{Code: 8, Pods: 2, Indexes: "0,1"}},
		},
		"of two that were created in the same second the one that ended last": {
			[]*corev1.Pod{aPod(0, 0, exited("main", 7, 5)), aPod(0, 0, exited("main", 8, 4))},
			[]stintv1.ExitCode{{Code: 7, Pods: 1, Indexes: "0"}},
		},
		"the container that failed first counts": {
			[]*corev1.Pod{aPod(0, 0, exited("a", 137, 9), exited("b", 3, 8), exited("c", 0, 1))},
			[]stintv1.ExitCode{{Code: 3, Pods: 1, Indexes: "0"}},
		},
		"in the same second, the one that is listed first": {
			[]*corev1.Pod{aPod(0, 0, exited("a", 5, 8), exited("b", 3, 8))},
			[]stintv1.ExitCode{{Code: 5, Pods: 1, Indexes: "0"}},
		},
		"init containers count": {
			[]*corev1.Pod{withInit}, []stintv1.ExitCode{{Code: 4, Pods: 1, Indexes: "0"}},
		},
		"a sidecar that is ended with its pod does not": {
			[]*corev1.Pod{sidecar}, []stintv1.ExitCode{{Code: 3, Pods: 1, Indexes: "0"}},
		},
		"a pod that failed without a container": {
			[]*corev1.Pod{aPod(0, 0), aPod(1, 0, exited("main", 0, 1))},
			[]stintv1.ExitCode{{Code: -1, Pods: 2, Indexes: "0,1"}},
		},
		"pods that run, of other Jobs, or without an index do not count": {
			[]*corev1.Pod{running, other, {Status: corev1.PodStatus{Phase: corev1.PodFailed}}, aPod(-1, 0)}, nil,
		},
		"indexes that would be many are left out": {
			many, []stintv1.ExitCode{{Code: 1, Pods: 400}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, ExitCodes(theRun, tt.pods)); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("of many codes the most frequent ones are listed", func(t *testing.T) {
		codes := ExitCodes(theRun, colourful)
		last := codes[len(codes)-1]
		if len(codes) != maxExitCodes || last.Code != 77 || last.Pods != 2 || codes[0].Code != 1 {
			t.Errorf("got %+v", codes)
		}
	})
	t.Run("indexes that just fit are listed", func(t *testing.T) {
		codes := ExitCodes(theRun, many[:75])
		if s := codes[0].Indexes; len(s) > maxIndexesWritten || !strings.HasSuffix(s, ",148") {
			t.Errorf("got %+v", codes)
		}
	})
}
