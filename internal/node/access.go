package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// Attempt returns the attempt at a container that runs, or an error of the API.
func (n *Node) Attempt(pod *corev1.Pod, container string) (runtime.ID, error) {
	id := runtime.ID{PodUID: pod.UID, Container: container}
	var started bool
	if id.Attempt, started = n.pods.Newest(pod.UID, container); !started {
		return id, apierrors.NewBadRequest(fmt.Sprintf("container %q of pod %q has not started", container, pod.Name))
	}
	ended, known := n.pods.Ended(id)
	if !known {
		ended = closedChan
	}
	select {
	case <-ended:
		return id, apierrors.NewBadRequest(fmt.Sprintf("container %q of pod %q has ended", container, pod.Name))
	default:
		return id, nil
	}
}

// Exec is that of the runtime, but as in a shell a command that cannot be run prints why and has an exit code.
func (n *Node) Exec(ctx context.Context, id runtime.ID, command runtime.Command, streams runtime.Streams) (int32, error) {
	code, err := n.Runtime.Exec(ctx, id, command, streams)
	var fault *runtime.CommandError
	if !errors.As(err, &fault) {
		return code, err
	}
	for _, to := range []io.Writer{streams.Stderr, streams.Stdout} {
		if to != nil {
			_, err = fmt.Fprintln(to, fault.Reason)
			return fault.Code, err
		}
	}
	return fault.Code, nil
}

// Attach is that of the runtime.
func (n *Node) Attach(ctx context.Context, id runtime.ID, streams runtime.Streams) error {
	return n.Runtime.Attach(ctx, id, streams)
}

// Dial connects to a TCP port of a pod's loopback addresses. Pods without a network of their own share that of this machine.
func (n *Node) Dial(ctx context.Context, pod *corev1.Pod, port int32) (net.Conn, error) {
	if !n.Taken(pod) {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("pod %q is not on this node", pod.Name))
	}
	dial := onMachine
	if n.networks.has(pod) {
		dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			return n.Runtime.Dial(ctx, pod.UID, to)
		}
	}
	conn, err := dial(ctx, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port)))
	if err != nil {
		if six, failed := dial(ctx, netip.AddrPortFrom(netip.IPv6Loopback(), uint16(port))); failed == nil {
			return six, nil
		}
	}
	return conn, err
}

func onMachine(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", to.String())
}
