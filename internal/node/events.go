package node

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/stint-dev/stint/internal/node/lifecycle"
)

// Events are writes too, so there are few: none for a pod that ends by itself within a moment, Started together with
// the report that the pod runs, and always those that tell of trouble or of the end of a container from outside.

// announce turns notices into events, each once.
func (n *Node) announce(p *pod, api *corev1.Pod, notices []lifecycle.Notice) {
	for _, notice := range notices {
		if p.first(notice.Key) {
			n.Recorder.Event(api, notice.Type, notice.Key.Reason, notice.Message)
		}
	}
}

// announceStarted tells of the containers that run, each attempt once.
func (n *Node) announceStarted(p *pod, api *corev1.Pod) {
	for _, h := range p.running() {
		if p.first(lifecycle.NoticeKey{Reason: "Started", Container: h.Last.Container, Attempt: h.Last.Attempt}) {
			n.Recorder.Eventf(api, corev1.EventTypeNormal, "Started", "Started container %s", h.Last.Container)
		}
	}
}

// silent drops events.
type silent struct{}

// Event drops an event.
func (silent) Event(runtime.Object, string, string, string) {}

// Eventf drops an event.
func (silent) Eventf(runtime.Object, string, string, string, ...any) {}

// AnnotatedEventf drops an event.
func (silent) AnnotatedEventf(runtime.Object, map[string]string, string, string, string, ...any) {}
