package podlogs

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/logs"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/podstatus"
)

// closedChan stands for the end of an attempt that has ended already.
var closedChan = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// PodLogs returns what one container of the pod has printed. With opts.Follow the reader goes on until the container
// has exited or ctx has ended.
func (s *Store) PodLogs(ctx context.Context, pod *corev1.Pod, opts *corev1.PodLogOptions) (io.ReadCloser, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
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

// attemptOf returns the attempt whose log is asked for. The node is asked first, as the pod's status lags behind.
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

// waitsToRestart reports whether the container waits for its next start. Then the newest attempt is the previous one.
func waitsToRestart(pod *corev1.Pod, id runtime.ID) bool {
	s := statusOf(pod, id.Container)
	return s != nil && s.State.Waiting != nil && s.RestartCount == id.Attempt
}

func statusOf(pod *corev1.Pod, container string) *corev1.ContainerStatus {
	for s := range podstatus.EveryContainer(&pod.Status) {
		if s.Name == container {
			return s
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
