package node

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	noderuntime "github.com/stint-dev/stint/internal/node/runtime"
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

// announceReadOnly tells of the directories that a container cannot write to because the machine lacks mount points in
// them, once a container, however often it starts.
func (n *Node) announceReadOnly(p *pod, api *corev1.Pod, s noderuntime.Status) {
	const reason = "MissingMountPoint"
	if len(s.MissingMountPoints) == 0 || !p.first(lifecycle.NoticeKey{Reason: reason, Container: s.Container}) {
		return
	}
	byDir := map[string][]noderuntime.MissingMountPoint{}
	for _, m := range s.MissingMountPoints {
		byDir[m.Dir] = append(byDir[m.Dir], m)
	}
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		n.Recorder.Event(api, corev1.EventTypeWarning, reason, readOnlyMessage(s.Container, dir, byDir[dir]))
	}
}

func readOnlyMessage(container, dir string, missing []noderuntime.MissingMountPoint) string {
	var paths, commands []string
	for _, m := range missing {
		paths = append(paths, m.Path)
		command := "mkdir -p " + m.Path
		if m.IsFile {
			command = "mkdir -p " + filepath.Dir(m.Path) + " && touch " + m.Path
		}
		commands = append(commands, command)
	}
	return fmt.Sprintf("%s is read-only in container %s, because a volume is mounted at %s, which this machine does not have; to write there, make it first: %s",
		dir, container, strings.Join(paths, " and "), strings.Join(commands, " && "))
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
