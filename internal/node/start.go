package node

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/filesystem"
	"github.com/stint-dev/stint/internal/node/containers"
	"github.com/stint-dev/stint/internal/node/images"
	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/node/volumes"
)

// reasonFull is the waiting reason of a container that cannot start for lack of disk space.
const reasonFull = "CreateContainerError"

const (
	retryAfter    = time.Second
	maxRetryAfter = time.Minute
)

// start starts a container, or stores why it could not.
func (w *podWorkers) start(ctx context.Context, p *pod, api *corev1.Pod, s lifecycle.Start) {
	if p.recordStarting(s.Container.Name) {
		return
	}
	c, reason, err := w.containers.Make(ctx, w.startOf(p, api, s))
	var waiting *images.Waiting
	var sharing volumes.SharingError
	switch {
	case ctx.Err() != nil:
		return
	case errors.As(err, &sharing):
		p.awaitVolume(s, sharing)
		return
	case errors.As(err, &waiting):
		w.awaitImage(p, api, s, waiting)
		return
	case err != nil:
		w.retryStart(p, api, s, reason, err)
		return
	}
	if c.Attempt > 1 {
		w.logs.TrimStarts(api)
	}
	w.startSoon(ctx, p, c, func(api *corev1.Pod, r startResult) { w.started(ctx, p, api, s, r) })
	p.recordStarting(c.Container)
}

// started stores what has become of a start.
func (w *podWorkers) started(ctx context.Context, p *pod, api *corev1.Pod, s lifecycle.Start, r startResult) {
	if ctx.Err() != nil {
		// The next run asks the runtime whether this start has succeeded.
		return
	}
	if r.err != nil {
		w.retryStart(p, api, s, "RunContainerError", r.err)
		return
	}
	status := r.status
	id := runtime.ID{PodUID: p.uid, Container: s.Container.Name, Attempt: s.Attempt}
	delete(p.startFailures, s.Container.Name)
	delete(p.tries, s.Container.Name)
	delete(p.wantedSince, s.Container.Name)
	if status.StartError != "" && p.firstTime(lifecycle.EventKey{Reason: "Failed", Container: id.Container, Attempt: id.Attempt}) {
		w.events.Eventf(api, corev1.EventTypeWarning, "Failed", "Error: container %s could not start: %s", id.Container, status.StartError)
	}
	w.events.recordReadOnly(p, api, status)
	p.addRuntimeStatus(status)
	if status.State == runtime.Running {
		w.postStart(ctx, p, id, s.Container)
	}
}

func (w *podWorkers) startOf(p *pod, api *corev1.Pod, s lifecycle.Start) containers.Start {
	name := s.Container.Name
	return containers.Start{
		Pod:                    api,
		Spec:                   s.Container,
		Attempt:                s.Attempt,
		Target:                 s.Target,
		Since:                  p.firstWanted(name),
		Network:                p.network(),
		Dir:                    w.dirs.of(p.uid),
		VolumesDir:             w.dirs.volumes(p.uid),
		LogPath:                w.logs.Path(api, name, s.Attempt),
		TerminationMessageFile: w.dirs.terminationMessage(runtime.ID{PodUID: p.uid, Container: name, Attempt: s.Attempt}),
		Warn: func(reason, message string) {
			if p.firstTime(lifecycle.EventKey{Reason: reason}) {
				w.events.Event(api, corev1.EventTypeWarning, reason, message)
			}
		},
	}
}

// network is what the pod's containers share; nil is the machine's.
func (p *pod) network() *runtime.Network {
	if !p.address.IsValid() {
		return nil
	}
	return &runtime.Network{Address: p.address}
}

// retryStart stores why a start failed, to be tried again with growing delays. A change of the pod's ConfigMaps or
// Secrets leads to a try at once.
func (w *podWorkers) retryStart(p *pod, api *corev1.Pod, s lifecycle.Start, reason string, err error) {
	name := s.Container.Name
	if filesystem.SaysFull(err) {
		reason, err = reasonFull, w.disk.full(err)
	}
	w.configUsers.add(api) // Ephemeral containers may refer to more than the pod did before.
	if p.tries == nil {
		p.tries = map[string]int{}
	}
	p.addStartFailure(name, lifecycle.StartFailure{
		Reason:  reason,
		Message: err.Error(),
		RetryAt: now().Add(retryDelay(p.tries[name])),
	})
	p.tries[name]++
	event := "Failed"
	if reason == containers.ReasonCreating {
		event = "FailedMount"
	}
	if p.firstTime(lifecycle.EventKey{Reason: event, Container: name, Attempt: s.Attempt}) {
		w.events.Eventf(api, corev1.EventTypeWarning, event, "Error: %v", err)
	}
}

// awaitVolume stores that a start waits for a volume. The pod is woken when it need not wait any longer.
func (p *pod) awaitVolume(s lifecycle.Start, why error) {
	p.addStartFailure(s.Container.Name,
		lifecycle.StartFailure{Reason: containers.ReasonCreating, Message: why.Error(), RetryAt: now().Add(maxRetryAfter)})
}

// awaitImage stores that a start waits for its image.
func (w *podWorkers) awaitImage(p *pod, api *corev1.Pod, s lifecycle.Start, waiting *images.Waiting) {
	p.addStartFailure(s.Container.Name, lifecycle.StartFailure{Reason: waiting.Reason, Message: waiting.Message, RetryAt: waiting.RetryAt})
	if waiting.Reason == images.ReasonCreating {
		return
	}
	kind, reason := corev1.EventTypeWarning, "Failed"
	if waiting.Reason == images.ReasonBackOff {
		kind, reason = corev1.EventTypeNormal, "BackOff"
	}
	w.events.Eventf(api, kind, reason, "%s", waiting.Message)
}

func (p *pod) addStartFailure(container string, f lifecycle.StartFailure) {
	if p.startFailures == nil {
		p.startFailures = map[string]lifecycle.StartFailure{}
	}
	p.startFailures[container] = f
}

// firstWanted returns when the pending start of the container was first tried. Pulls are before or after it even if the clock is
// set back meanwhile: its reading of the monotonic clock says so.
func (p *pod) firstWanted(container string) (since time.Time) {
	if since, ok := p.wantedSince[container]; ok {
		return since
	}
	if p.wantedSince == nil {
		p.wantedSince = map[string]time.Time{}
	}
	p.wantedSince[container] = time.Now()
	return p.wantedSince[container]
}

// retryDelay returns the delay before the next try, after so many.
func retryDelay(tries int) time.Duration {
	return min(retryAfter<<min(tries, 16), maxRetryAfter)
}
