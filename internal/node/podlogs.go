package node

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

// fallbackLines and fallbackBytes bound what of a log becomes the message of a container that left none.
const (
	fallbackLines = 80
	fallbackBytes = 2048
)

// never is the end of an attempt that has ended.
var never = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Logs reads what containers have printed.
type Logs struct {
	dir  string
	pods *pods
	// synced tell that the node has heard of its pods.
	synced []cache.InformerSynced
}

// StoredLogs reads the logs that nodes have left in dir, where none runs now.
func StoredLogs(dir string) *Logs { return &Logs{dir: dir, pods: &pods{}} }

// PodLogs returns what one container of the pod has printed. With opts.Follow the reader goes on until the
// container has ended or ctx is over.
func (l *Logs) PodLogs(ctx context.Context, pod *corev1.Pod, opts *corev1.PodLogOptions) (io.ReadCloser, error) {
	// To a node that has just started no container runs, and a follower would not wait for its end.
	if !cache.WaitForCacheSync(ctx.Done(), l.synced...) {
		return nil, ctx.Err()
	}
	id, err := l.attemptOf(pod, opts)
	if err != nil {
		return nil, err
	}
	ended := never
	if p := l.pods.get(pod.UID); p != nil {
		ended = p.endOf(id)
	}
	return logs.Open(ctx, l.logPath(pod, id.Container, id.Attempt), ended, logs.OptionsFrom(opts, now())), nil
}

// attemptOf finds the attempt whose log is asked for. The node knows more than the pod's status, which lags behind.
func (l *Logs) attemptOf(pod *corev1.Pod, opts *corev1.PodLogOptions) (runtime.ID, error) {
	id := runtime.ID{PodUID: pod.UID, Container: opts.Container}
	started := false
	if p := l.pods.get(pod.UID); p != nil {
		id.Attempt, started = p.newest(opts.Container)
	}
	if !started {
		known := map[string]lifecycle.History{}
		lifecycle.Recall(pod, known)
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
		return containerCreating
	}
	return "it was never started"
}

// newest returns the number of the newest attempt at the container.
func (p *pod) newest(container string) (attempt int32, started bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h, ok := p.containers[container]; ok && h.Last != nil {
		attempt, started = h.Last.Attempt, true
	}
	for _, s := range p.inbox {
		if s.Container == container && (!started || s.Attempt > attempt) {
			attempt, started = s.Attempt, true
		}
	}
	return attempt, started
}

// endOf returns a channel that is closed once the attempt has ended.
func (p *pod) endOf(id runtime.ID) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.inbox {
		if s.ID == id && s.State == runtime.Exited {
			return never
		}
	}
	h := p.containers[id.Container]
	if h.Last != nil && (h.Last.Attempt > id.Attempt || h.Last.Attempt == id.Attempt && h.Exited()) {
		return never
	}
	if p.followers == nil {
		p.followers = map[runtime.ID]chan struct{}{}
	}
	if p.followers[id] == nil {
		p.followers[id] = make(chan struct{})
	}
	return p.followers[id]
}

// withMessage gives a failed container that left no message the end of its log, where its spec asks for that.
func (n *Node) withMessage(api *corev1.Pod, s runtime.Status) runtime.Status {
	s.TerminationMessage = storable(s.TerminationMessage)
	if api == nil || s.State != runtime.Exited || s.ExitCode == 0 || s.TerminationMessage != "" || !fallsBack(api, s.Container) {
		return s
	}
	text, err := logs.Last(n.logPath(api, s.Container, s.Attempt), fallbackLines, fallbackBytes)
	if err != nil {
		text = "the log could not be read: " + err.Error()
	}
	s.TerminationMessage = storable(text)
	return s
}

func fallsBack(api *corev1.Pod, container string) bool {
	for _, list := range [][]corev1.Container{api.Spec.InitContainers, api.Spec.Containers} {
		for i := range list {
			if list[i].Name == container {
				return list[i].TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError
			}
		}
	}
	return false
}
