package prober

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/env"
	"github.com/stint-dev/stint/internal/node/probe"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// tries is how often a probe that could not be run is tried before it is given up.
const tries = 3

// Exec runs a command in a container, as runtime.Runtime does.
type Exec func(ctx context.Context, id runtime.ID, command runtime.Command, streams runtime.Streams) (exitCode int32, err error)

// Prober runs probes and hooks.
type Prober struct {
	exec    Exec
	version string
	dial    Dialer
	web     *http.Transport
}

// New returns a prober. Version is that of this program, for the servers that it asks.
func New(exec Exec, d Dialer, version string) *Prober {
	return &Prober{exec: exec, version: version, dial: d, web: newTransport(d)}
}

// Container is an attempt at a container that is probed, or whose hook is run.
type Container struct {
	ID runtime.ID
	// PodIP is the address of its pod.
	PodIP string
	Spec  *corev1.Container
}

// Outcome is what a probe has come to.
type Outcome struct {
	probe.Result
	// Message says why it failed or could not be run.
	Message string
	// Warning is about a probe that succeeded.
	Warning string
}

func failed(format string, args ...any) Outcome {
	return Outcome{Result: probe.Failure, Message: fmt.Sprintf(format, args...)}
}

// Probe runs a probe of the container.
func (p *Prober) Probe(ctx context.Context, c Container, kind probe.Kind) Outcome {
	spec := probe.SpecOf(c.Spec, kind)
	timeout := max(time.Duration(spec.TimeoutSeconds)*time.Second, time.Second)
	var err error
	for range tries {
		var outcome Outcome
		if outcome, err = p.try(ctx, c, &spec.ProbeHandler, timeout); err == nil {
			return outcome
		}
		if ctx.Err() != nil {
			break
		}
	}
	return Outcome{Result: probe.Unknown, Message: err.Error()}
}

// try runs a probe once. An error means that it could not be run, and says nothing about the container.
func (p *Prober) try(ctx context.Context, c Container, h *corev1.ProbeHandler, timeout time.Duration) (Outcome, error) {
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	switch {
	case h.Exec != nil:
		return p.command(within, c, expand(h.Exec.Command, c.Spec.Env), timeout)
	case h.HTTPGet != nil:
		return p.httpGet(within, c, h.HTTPGet)
	case h.TCPSocket != nil:
		return p.tcpSocket(within, c, h.TCPSocket)
	case h.GRPC != nil:
		return p.grpcCheck(within, c, h.GRPC, timeout), nil
	}
	return Outcome{}, errors.New("the probe has no handler that is known here")
}

// expand replaces references to variables that have a literal value, as a kubelet does for probes.
func expand(command []string, vars []corev1.EnvVar) []string {
	values := map[string]string{}
	for _, v := range vars {
		values[v.Name] = v.Value
	}
	expanded := make([]string, 0, len(command))
	for _, word := range command {
		expanded = append(expanded, env.Expand(word, func(name string) (string, bool) {
			value, ok := values[name]
			return value, ok
		}))
	}
	return expanded
}

// command runs a command as a probe: it succeeds with the exit code 0.
func (p *Prober) command(ctx context.Context, c Container, command []string, timeout time.Duration) (Outcome, error) {
	code, output, err := p.run(ctx, c, command)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failed("command %q has not ended within %s", command, timeout), nil
	case err != nil:
		return Outcome{}, err
	case code != 0:
		return failed("%s", output), nil
	}
	return Outcome{Result: probe.Success}, nil
}

// run runs a command in the container, and returns its exit code and the beginning of what it has printed.
func (p *Prober) run(ctx context.Context, c Container, command []string) (code int32, output string, err error) {
	var printed beginning
	code, err = p.exec(ctx, c.ID, runtime.Command{Args: command}, runtime.Streams{Stdout: &printed, Stderr: &printed})
	return code, printed.String(), err
}
