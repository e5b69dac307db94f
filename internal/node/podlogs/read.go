package podlogs

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/logs"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// closedChan is the end of an attempt that has ended.
var closedChan = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// PodLogs returns what one container of the pod has printed. With opts.Follow the reader goes on until the
// container has ended or ctx is over.
func (s *Store) PodLogs(ctx context.Context, pod *corev1.Pod, opts *corev1.PodLogOptions) (io.ReadCloser, error) {
	// To a node that has just started no container runs, and a follower would not wait for its end.
	if !cache.WaitForCacheSync(ctx.Done(), s.synced...) {
		return nil, ctx.Err()
	}
	id, err := s.attemptOf(pod, opts)
	if err != nil {
		return nil, err
	}
	ended, known := s.live.Ended(id)
	if !known {
		ended = closedChan
	}
	return logs.Open(ctx, s.Path(pod, id.Container, id.Attempt), ended, logs.OptionsFrom(opts, now())), nil
}

// attemptOf finds the attempt whose log is asked for. The node knows more than the pod's status, which lags behind.
func (s *Store) attemptOf(pod *corev1.Pod, opts *corev1.PodLogOptions) (runtime.ID, error) {
	id := runtime.ID{PodUID: pod.UID, Container: opts.Container}
	var started bool
	id.Attempt, started = s.live.Newest(pod.UID, opts.Container)
	if !started {
		known := map[string]lifecycle.History{}
		lifecycle.RestoreHistory(pod, known)
		if h := known[opts.Container]; h.Last != nil {
			id.Attempt, started = h.Last.Attempt, true
		}
	}
	if !started {
		return id, apierrors.NewBadRequest(fmt.Sprintf("container %q in pod %q is waiting to start: %s",
			opts.Container, pod.Name, waitingReason(pod, opts.Container)))
	}
	if opts.Previous && !waitsToRestart(pod, id) {
		if id.Attempt == 0 {
			return id, apierrors.NewBadRequest(fmt.Sprintf("previous terminated container %q in pod %q not found",
				opts.Container, pod.Name))
		}
		id.Attempt--
	}
	return id, nil
}

// waitsToRestart: between two attempts the last one is the previous one already.
func waitsToRestart(pod *corev1.Pod, id runtime.ID) bool {
	s := statusOf(pod, id.Container)
	return s != nil && s.State.Waiting != nil && s.RestartCount == id.Attempt
}

func statusOf(pod *corev1.Pod, container string) *corev1.ContainerStatus {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if statuses[i].Name == container {
				return &statuses[i]
			}
		}
	}
	return nil
}

func waitingReason(pod *corev1.Pod, container string) string {
	if s := statusOf(pod, container); s != nil && s.State.Waiting != nil {
		return s.State.Waiting.Reason
	}
	if pod.Status.Phase == corev1.PodPending {
		return "ContainerCreating"
	}
	return "it was never started"
}
