package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/env"
	"github.com/stint-dev/stint/internal/node/images"
	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/node/volumes"
)

const (
	retryAfter    = time.Second
	maxRetryAfter = time.Minute
)

// start makes an attempt at a container, or notes why there could be none.
func (n *Node) start(ctx context.Context, p *pod, api *corev1.Pod, s lifecycle.Start) {
	c, reason, err := n.containerFor(ctx, p, api, s)
	var waiting *images.Waiting
	switch {
	case errors.As(err, &waiting):
		n.awaitImage(p, api, s, waiting)
		return
	case err != nil:
		n.hinder(p, api, s, reason, err)
		return
	}
	if c.Attempt > 1 {
		n.trimLogs(api)
	}
	status, err := n.Runtime.Start(ctx, c)
	if ctx.Err() != nil {
		// The next run finds out from the runtime whether this start came through.
		return
	}
	if err != nil {
		n.hinder(p, api, s, "RunContainerError", err)
		return
	}
	delete(p.hindrances, s.Container.Name)
	delete(p.tries, s.Container.Name)
	delete(p.wantedSince, s.Container.Name)
	if status.StartError != "" && p.first(lifecycle.NoticeKey{Reason: "Failed", Container: c.Container, Attempt: c.Attempt}) {
		n.Recorder.Eventf(api, corev1.EventTypeWarning, "Failed", "Error: container %s could not start: %s", c.Container, status.StartError)
	}
	n.announceReadOnly(p, api, status)
	p.hear(status)
}

// hinder has the start tried again, later each time. Whatever changes in the pod's ConfigMaps and Secrets has it
// tried at once.
func (n *Node) hinder(p *pod, api *corev1.Pod, s lifecycle.Start, reason string, err error) {
	name := s.Container.Name
	if p.hindrances == nil {
		p.hindrances = map[string]lifecycle.Hindrance{}
	}
	if p.tries == nil {
		p.tries = map[string]int{}
	}
	p.hindrances[name] = lifecycle.Hindrance{
		Reason:  reason,
		Message: err.Error(),
		RetryAt: now().Add(growing(p.tries[name])),
	}
	p.tries[name]++
	event := "Failed"
	if reason == containerCreating {
		event = "FailedMount"
	}
	if p.first(lifecycle.NoticeKey{Reason: event, Container: name, Attempt: s.Attempt}) {
		n.Recorder.Eventf(api, corev1.EventTypeWarning, event, "Error: %v", err)
	}
}

// growing is the delay before the next try, after so many.
func growing(tries int) time.Duration {
	return min(retryAfter<<min(tries, 16), maxRetryAfter)
}

// waiting reasons of a container that could not be prepared.
const (
	containerCreating   = "ContainerCreating"
	createContainerConf = "CreateContainerConfigError"
)

// containerFor translates a container of the pod's spec for the runtime.
func (n *Node) containerFor(ctx context.Context, p *pod, api *corev1.Pod, s lifecycle.Start) (runtime.Container, string, error) {
	spec := s.Container
	vars, err := n.env.Resolve(ctx, api, spec)
	if err != nil {
		return runtime.Container{}, createContainerConf, err
	}
	c := runtime.Container{
		ID:                     runtime.ID{PodUID: api.UID, Container: spec.Name, Attempt: s.Attempt},
		PodNamespace:           api.Namespace,
		PodName:                api.Name,
		WorkingDir:             spec.WorkingDir,
		LogPath:                n.logPath(api, spec.Name, s.Attempt),
		TerminationMessagePath: spec.TerminationMessagePath,
		TerminationMessageFile: filepath.Join(n.podDir(api.UID), "termination", fmt.Sprintf("%s.%d", spec.Name, s.Attempt)),
		CPUMilliLimit:          spec.Resources.Limits.Cpu().MilliValue(),
		MemoryLimitBytes:       spec.Resources.Limits.Memory().Value(),
		CPUMilliRequest:        spec.Resources.Requests.Cpu().MilliValue(),
		NoNewPrivileges:        noNewPrivileges(spec),
	}
	if n.isolation.Of(runtime.HandlerOf(api)).CanSetHostname {
		c.Hostname = hostname(api)
	}
	if runtime.HandlerOf(api) == runtime.ClassOCI {
		var image *images.Image
		if image, err = n.imageOf(ctx, p, api, spec); err == nil {
			err = n.fromImage(&c, image, api, spec, vars)
		}
	} else {
		err = n.fromMachine(&c, api, spec, vars)
	}
	if err != nil {
		return c, createContainerConf, err
	}
	c.Mounts, err = n.vols.Mounts(ctx, n.volumePod(api), spec, vars.Lookup)
	return c, containerCreating, err
}

// fromMachine has the container run a program of this machine.
func (n *Node) fromMachine(c *runtime.Container, api *corev1.Pod, spec *corev1.Container, vars *env.Vars) (err error) {
	if c.User, err = n.userFor(api, spec); err != nil {
		return err
	}
	c.Command = vars.Command(spec)
	c.Env = n.envFor(c.User).Environ(vars, hostname(api))
	return nil
}

// hostname is the pod's own name on the network, cut to what a host name may be.
func hostname(api *corev1.Pod) string {
	if api.Spec.Hostname != "" {
		return api.Spec.Hostname
	}
	if len(api.Name) <= 63 {
		return api.Name
	}
	return strings.TrimRight(api.Name[:63], "-.")
}

func (n *Node) volumePod(api *corev1.Pod) volumes.Pod {
	return volumes.Pod{Pod: api, Dir: filepath.Join(n.podDir(api.UID), "volumes"), Share: n.sharing(api)}
}

func (n *Node) podDir(uid types.UID) string { return filepath.Join(n.Dir, podsDir, string(uid)) }
