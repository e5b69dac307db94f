package network

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// dialInside connects from a network namespace. Only the socket is made there: waiting in a namespace keeps a thread.
func dialInside(ctx context.Context, ns *os.File, to netip.AddrPort) (*net.TCPConn, error) {
	socket, err := connect(ctx, ns, to)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(to), Err: err}
	}
	defer socket.Close()
	conn, err := net.FileConn(socket)
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), nil
}

func connect(ctx context.Context, ns *os.File, to netip.AddrPort) (*os.File, error) {
	if !to.Addr().Is4() {
		return nil, errors.New("pods have IPv4 addresses only")
	}
	var fd int
	err := inside(ns, func() (err error) {
		fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		return os.NewSyscallError("socket", err)
	})
	if err != nil {
		return nil, err
	}
	err = unix.Connect(fd, &unix.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port())})
	socket := os.NewFile(uintptr(fd), "socket")
	if errors.Is(err, unix.EINPROGRESS) {
		err = connected(ctx, socket)
	}
	if err != nil {
		socket.Close()
		return nil, os.NewSyscallError("connect", err)
	}
	return socket, nil
}

// connected waits until a socket is connected, or could not be, or ctx ends.
func connected(ctx context.Context, socket *os.File) error {
	stop := context.AfterFunc(ctx, func() { _ = socket.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Write(func(fd uintptr) (done bool) {
		done, failed = outcome(int(fd))
		return done
	})
	return cmp.Or(ctx.Err(), failed, err)
}

// outcome is that of connecting a socket, if it is known.
func outcome(fd int) (known bool, failed error) {
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, 0); n == 0 || err != nil {
		return false, nil
	}
	code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && code != 0 {
		err = unix.Errno(code)
	}
	return true, err
}
