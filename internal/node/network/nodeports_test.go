package network

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// openNodePorts leads node ports to the network.
func openNodePorts(t *testing.T, n *Network) *NodePorts {
	t.Helper()
	ports := NewNodePorts(func(ctx context.Context, port runtime.ServicePort) (*net.TCPConn, error) {
		return n.Dial(ctx, port.Address)
	})
	t.Cleanup(ports.Close)
	return ports
}

// askMachine connects to a port of the machine.
func askMachine(t *testing.T, port uint16) (string, error) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(await.Context(t), "tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	text, err := io.ReadAll(conn)
	return string(text), err
}

func TestANodePortLeadsToItsService(t *testing.T) {
	n := openNetwork(t)
	serve(t, attach(t, n, 2), 8080, "a")
	serve(t, attach(t, n, 3), 8080, "b")
	web := runtime.ServicePort{Protocol: runtime.TCP, Address: netip.MustParseAddrPort("10.96.0.1:80"), NodePort: 30080}
	none := runtime.ServicePort{Protocol: runtime.TCP, Address: netip.MustParseAddrPort("10.96.0.2:80"), NodePort: 30081}
	ports := openNodePorts(t, n)
	lead := func(to ...runtime.ServicePort) {
		if err := n.SetServices(runtime.Services{Range: netip.MustParsePrefix("10.96.0.0/16"), Ports: to}); err != nil {
			t.Fatal(err)
		}
		if taken := ports.Set(to); len(taken) > 0 {
			t.Fatalf("taken are %v", taken)
		}
	}
	want := func(port uint16, want string) {
		t.Helper()
		if got, err := askMachine(t, port); err != nil || got != want {
			t.Errorf("port %d: %q, %v, want %q", port, got, err, want)
		}
	}
	web.Backends = []netip.AddrPort{netip.AddrPortFrom(addr(2), 8080)}
	lead(web, none)
	want(30080, "a 10.244.0.1")
	if got, err := askMachine(t, 30081); err == nil {
		t.Errorf("a Service without backends answers %q", got)
	}
	if got, err := new(net.Dialer).DialContext(await.Context(t), "tcp4", machineAddress.String()+":30080"); err == nil {
		got.Close()
		t.Error("it listens on another address than the loopback one")
	}
	web.Backends = []netip.AddrPort{netip.AddrPortFrom(addr(3), 8080)}
	web.Address = netip.MustParseAddrPort("10.96.0.3:80")
	lead(web)
	want(30080, "b 10.244.0.1")
	lead()
	for _, port := range []uint16{30080, 30081} {
		if got, err := askMachine(t, port); err == nil {
			t.Errorf("port %d, whose Service is gone, answers %q", port, got)
		}
	}
}

func TestANodePortThatIsTakenIsTriedAgain(t *testing.T) {
	n := openNetwork(t)
	ports := openNodePorts(t, n)
	other, err := net.Listen("tcp4", "127.0.0.1:30090")
	if err != nil {
		t.Fatal(err)
	}
	wanted := []runtime.ServicePort{{Protocol: runtime.TCP, NodePort: 30091}, {Protocol: runtime.TCP, NodePort: 30090}, {Protocol: runtime.TCP}}
	if taken := ports.Set(wanted); !slices.Equal(taken, []uint16{30090}) {
		t.Errorf("taken are %v", taken)
	}
	other.Close()
	await.Until(t, "the port is opened when the other program has gone", func() bool {
		_, err := askMachine(t, 30090)
		return !errors.Is(err, unix.ECONNREFUSED)
	})
	if taken := ports.Set(wanted); len(taken) > 0 {
		t.Errorf("taken are %v", taken)
	}
}
