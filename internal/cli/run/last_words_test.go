package run

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/podlog"
)

func TestLastWordsAreWaitedForUnlessCtrlCIsPressedAgain(t *testing.T) {
	for sentence, tc := range map[string]struct {
		// again is when Ctrl-C is pressed again, after the first time; 0 is never
		again time.Duration
		want  string
		took  time.Duration
	}{
		"however slow they come":            {want: "goodbye", took: 20 * time.Second},
		"a second signal of the same press": {again: signalDebounce / 2, want: "goodbye", took: 20 * time.Second},
		"pressed again":                     {again: time.Second, took: time.Second},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				interrupts, said := make(chan os.Signal, 1), ""
				s := &follower{connection: &connection{lateDataTimeout: defaultLateDataTimeout}, interrupts: interrupts, pods: &podReader{},
					stopper: &stopper{presses: 1, last: time.Now()}}
				s.pods.logs = podlog.New(ctx, slowly("goodbye\n"), podlog.Options{SinglePod: true},
					func(l output.Line) { said = string(l.Text) }, func(text string) { t.Error(text) })
				pod := running("p")
				pod.Spec.Containers = []corev1.Container{{Name: "main"}}
				pod.Status.Phase, pod.Status.ContainerStatuses[0] = corev1.PodSucceeded, corev1.ContainerStatus{Name: "main",
					State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.Now()}}}
				s.pods.logs.Observe(pod)
				if tc.again > 0 {
					time.AfterFunc(tc.again, func() { interrupts <- os.Interrupt })
				}
				begun := time.Now()
				s.readLastLogs(ctx)
				if took := time.Since(begun); took != tc.took || said != tc.want {
					t.Errorf("after %s it has said %q; want %q after %s", took, said, tc.want, tc.took)
				}
			})
		})
	}
}

// slowly returns a log that arrives after 20 seconds.
func slowly(text string) podlog.Source {
	return func(ctx context.Context, _ *corev1.Pod, _ *corev1.PodLogOptions) (io.ReadCloser, error) {
		select {
		case <-time.After(20 * time.Second):
			return io.NopCloser(strings.NewReader(text)), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
