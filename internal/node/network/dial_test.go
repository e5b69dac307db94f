package network

import (
	"context"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/test/await"
)

// fullListener listens on a port of the pod, and never accepts, so that further connections hang.
func fullListener(t *testing.T, p *Pod, port int) {
	t.Helper()
	err := inside(p.Namespace, func() error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		t.Cleanup(func() { unix.Close(fd) })
		if err := unix.Bind(fd, &unix.SockaddrInet4{Port: port}); err != nil {
			return err
		}
		return unix.Listen(fd, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// connecting counts the connections of a network that wait for an answer.
func (n *Network) connecting(t *testing.T) (count int) {
	const synSent = " 02 "
	err := inside(n.ns, func() error {
		table, err := os.ReadFile("/proc/thread-self/net/tcp")
		count = strings.Count(string(table), synSent)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// Each thread counts towards the processes that a user may have, and a process that gets no thread ends.
func TestConnectionsThatHangTakeNoThreads(t *testing.T) {
	n := openNetwork(t)
	fullListener(t, attach(t, n, 2), 80)
	ctx, cancel := context.WithCancel(await.Context(t))
	var dials sync.WaitGroup
	defer dials.Wait()
	defer cancel()
	const many = 300
	for range many {
		dials.Go(func() {
			if conn, err := n.Dial(ctx, netip.AddrPortFrom(addr(2), 80)); err == nil {
				<-ctx.Done()
				conn.Close()
			}
		})
	}
	await.Until(t, "the connections hang", func() bool { return n.connecting(t) >= many-10 })
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	if len(threads) > many/2 {
		t.Errorf("%d threads for %d connections", len(threads), many)
	}
}

func TestADialIsRefusedAndEnds(t *testing.T) {
	n := openNetwork(t)
	p := attach(t, n, 2)
	fullListener(t, p, 80)
	if _, err := n.Dial(await.Context(t), netip.AddrPortFrom(addr(2), 81)); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("a port on which nothing listens: %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if conn, err := n.Dial(ended, netip.AddrPortFrom(addr(2), 81)); err == nil {
		conn.Close()
		t.Error("connected after the context has ended")
	}
	hanging, stop := context.WithCancel(context.Background())
	var dials sync.WaitGroup
	for range 10 {
		dials.Go(func() {
			if conn, err := p.Dial(hanging, netip.AddrPortFrom(addr(2), 80)); err == nil {
				<-hanging.Done()
				conn.Close()
			}
		})
	}
	stop()
	dials.Wait()
}
