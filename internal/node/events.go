package node

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"

	"github.com/stint-dev/stint/internal/node/images"
	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/probe"
	"github.com/stint-dev/stint/internal/node/prober"
	noderuntime "github.com/stint-dev/stint/internal/node/runtime"
)

// Events are writes too, so there are few: none for a pod that exits by itself within reportAfter, Started together
// with the report that the pod runs, and always those about failures and about containers that are stopped.

// podEvents records the events of pods.
type podEvents struct{ record.EventRecorder }

// recordEvents records each event once.
func (e podEvents) recordEvents(p *pod, api *corev1.Pod, events []lifecycle.Event) {
	for _, event := range events {
		if p.firstTime(event.Key) {
			e.Event(api, event.Type, event.Key.Reason, event.Message)
		}
	}
}

// recordReadOnly records a warning about directories that a container cannot write to, because the machine lacks mount
// points in them. It does so once per container, however often that restarts.
func (e podEvents) recordReadOnly(p *pod, api *corev1.Pod, s noderuntime.Status) {
	const reason = "MissingMountPoint"
	if len(s.MissingMountPoints) == 0 || !p.firstTime(lifecycle.EventKey{Reason: reason, Container: s.Container}) {
		return
	}
	byDir := map[string][]noderuntime.MissingMountPoint{}
	for _, m := range s.MissingMountPoints {
		byDir[m.Dir] = append(byDir[m.Dir], m)
	}
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		e.Event(api, corev1.EventTypeWarning, reason, readOnlyMessage(s.Container, dir, byDir[dir]))
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
	return fmt.Sprintf("%s is read-only in container %s, because a volume is mounted at %s, which this machine does not have; to write there, create it first: %s",
		dir, container, strings.Join(paths, " and "), strings.Join(commands, " && "))
}

// recordStarted records that containers run, once per attempt.
func (e podEvents) recordStarted(p *pod, api *corev1.Pod) {
	for _, h := range p.running() {
		if p.firstTime(lifecycle.EventKey{Reason: "Started", Container: h.Last.Container, Attempt: h.Last.Attempt}) {
			e.Eventf(api, corev1.EventTypeNormal, "Started", "Started container %s", h.Last.Container)
		}
	}
}

// maxMessage is how many characters an event keeps of what a server or a program in a container has answered.
const maxMessage = 10 << 10

// recordProbe records why a probe has failed, or what it warns of.
func (e podEvents) recordProbe(api *corev1.Pod, kind probe.Kind, o prober.Outcome) {
	switch {
	case o.Result == probe.Failure:
		e.Eventf(api, corev1.EventTypeWarning, "Unhealthy", "%s probe failed: %.*s", kind, maxMessage, o.Message)
	case o.Result == probe.Unknown:
		e.Eventf(api, corev1.EventTypeWarning, "Unhealthy", "%s probe could not be run: %.*s", kind, maxMessage, o.Message)
	case o.Warning != "":
		e.Eventf(api, corev1.EventTypeWarning, "ProbeWarning", "%s probe warning: %.*s", kind, maxMessage, o.Warning)
	}
}

// recordPull records the events that a kubelet records about pulls.
func (e podEvents) recordPull(api *corev1.Pod, event images.Event) {
	switch {
	case event.Begins:
		e.Eventf(api, corev1.EventTypeNormal, "Pulling", "Pulling image %q", event.Image)
	case event.Failure != nil:
		e.Eventf(api, corev1.EventTypeWarning, "Failed", "Failed to pull image %q: %v", event.Image, event.Failure)
	default:
		e.Eventf(api, corev1.EventTypeNormal, "Pulled", "Successfully pulled image %q in %s. Image size: %d bytes.",
			event.Image, event.Took.Round(1e6), event.Size)
	}
}

// warnOf records a warning about a pod.
func (w *podWorkers) warnOf(uid types.UID, reason, message string) {
	p := w.pods.get(uid)
	if p == nil {
		return
	}
	if api, gone := p.current(); api != nil && !gone {
		w.events.Event(api, corev1.EventTypeWarning, reason, message)
	}
}

// discardRecorder drops events.
type discardRecorder struct{}

// Event drops an event.
func (discardRecorder) Event(runtime.Object, string, string, string) {}

// Eventf drops an event.
func (discardRecorder) Eventf(runtime.Object, string, string, string, ...any) {}

// AnnotatedEventf drops an event.
func (discardRecorder) AnnotatedEventf(runtime.Object, map[string]string, string, string, string, ...any) {
}
