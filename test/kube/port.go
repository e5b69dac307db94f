package kube

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// shared is the flag that lets a program of Kubernetes listen on a port of HoldPort.
const shared = "--permit-port-sharing=true"

// HoldPort finds a free port of the loopback interface and keeps it from all others for as long as the cluster lives,
// whether a program listens on it or not: a socket is bound to it. It does not listen, so that connections are refused
// while no program does. The program must share the port.
func (c *Cluster) HoldPort() (port int, err error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("a socket for a port: %w", err)
	}
	c.held = append(c.held, socket)
	// Not SO_REUSEADDR, with which another process could bind the port as long as no program listens.
	if err := unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, fmt.Errorf("share a port: %w", err)
	}
	if err := unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, fmt.Errorf("bind a port: %w", err)
	}
	address, err := unix.Getsockname(socket)
	if err != nil {
		return 0, fmt.Errorf("the port that was bound: %w", err)
	}
	return address.(*unix.SockaddrInet4).Port, nil
}

func (c *Cluster) releasePorts() {
	for _, socket := range c.held {
		unix.Close(socket)
	}
	c.held = nil
}
