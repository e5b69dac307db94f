package network

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/userns"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/unprivileged"
)

var pods = netip.MustParsePrefix("10.244.0.0/16")

func addr(last byte) netip.Addr { return netip.AddrFrom4([4]byte{10, 244, 0, last}) }

// machineAddress is that of the tests' own machine.
var machineAddress = netip.MustParseAddr("192.0.2.1")

// whyNoMachine is why the tests have no machine of their own.
var whyNoMachine error

// stepVariable says what TestMain has done.
const stepVariable = "STINT_TEST_MACHINE"

// TestMain runs the tests on a machine of their own, which is a network namespace. A user who is not root is made root of a
// user namespace there, as host processes are: one to which that machine does not belong.
func TestMain(m *testing.M) {
	var namespaces uintptr
	if os.Geteuid() != 0 || !userns.Initial() {
		namespaces = syscall.CLONE_NEWUSER
	}
	switch os.Getenv(stepVariable) {
	case "":
		runAgain("machine", namespaces|syscall.CLONE_NEWNET)
	case "machine":
		whyNoMachine = errors.Join(netlink.LinkSetUp(loopback), netlink.AddrAdd(loopback, &netlink.Addr{IPNet: host(machineAddress)}))
		if whyNoMachine == nil {
			runAgain("user", namespaces)
		}
	}
	os.Exit(m.Run())
}

// runAgain exits unless the namespaces cannot be made.
func runAgain(step string, namespaces uintptr) {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), stepVariable+"="+step)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces, Pdeathsig: syscall.SIGKILL}
	if namespaces&syscall.CLONE_NEWUSER != 0 {
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	if whyNoMachine = cmd.Start(); whyNoMachine == nil {
		_ = cmd.Wait()
		os.Exit(cmd.ProcessState.ExitCode())
	}
}

func openNetwork(t testing.TB) *Network {
	t.Helper()
	return openWith(t, Config{})
}

func openWith(t testing.TB, config Config) *Network {
	t.Helper()
	if whyNoMachine != nil {
		t.Skip(whyNoMachine)
	}
	config.Pods = pods
	if !userns.Initial() {
		config.Groups = 1
	}
	n, err := Open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

func attach(t testing.TB, n *Network, last byte) *Pod {
	t.Helper()
	p, err := n.Attach(addr(last))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// serve answers each TCP connection to a port of the pod with a text and the address of the client.
func serve(t *testing.T, p *Pod, port uint16, text string) {
	t.Helper()
	var listener net.Listener
	err := inside(p.Namespace, func() (err error) {
		listener, err = net.Listen("tcp4", fmt.Sprintf("0.0.0.0:%d", port))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	greet(t, listener, text)
}

func greet(t *testing.T, listener net.Listener, text string) {
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			fmt.Fprintf(conn, "%s %s", text, conn.RemoteAddr().(*net.TCPAddr).IP)
			conn.Close()
		}
	}()
}

// ask connects from a pod and returns what it is answered.
func ask(t *testing.T, from *Pod, to string) (string, error) {
	t.Helper()
	var conn net.Conn
	err := inside(from.Namespace, func() (err error) {
		conn, err = new(net.Dialer).DialContext(await.Context(t), "tcp4", to)
		return err
	})
	if err != nil {
		return "", err
	}
	defer conn.Close()
	text, err := io.ReadAll(conn)
	return string(text), err
}

func wantAnswer(t *testing.T, from *Pod, to, want string) {
	t.Helper()
	if got, err := ask(t, from, to); err != nil || got != want {
		t.Errorf("%s, asked by %s: %q, %v, want %q", to, from.Address, got, err, want)
	}
}

func TestPodsConnectByTheirAddresses(t *testing.T) {
	n := openNetwork(t)
	a, b := attach(t, n, 2), attach(t, n, 3)
	// Both have the same port, on all addresses, and neither meets the other on its own loopback address.
	serve(t, a, 6379, "a")
	serve(t, b, 6379, "b")
	wantAnswer(t, a, "10.244.0.3:6379", "b 10.244.0.2")
	wantAnswer(t, b, "10.244.0.2:6379", "a 10.244.0.3")
	wantAnswer(t, a, "127.0.0.1:6379", "a 127.0.0.1")
	wantAnswer(t, b, "127.0.0.1:6379", "b 127.0.0.1")
	wantAnswer(t, a, "10.244.0.2:6379", "a 10.244.0.2")
}

func TestThisProcessConnectsToAPod(t *testing.T) {
	n := openNetwork(t)
	serve(t, attach(t, n, 2), 80, "a")
	conn, err := n.Dial(await.Context(t), netip.AddrPortFrom(addr(2), 80))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if text, err := io.ReadAll(conn); err != nil || string(text) != "a 10.244.0.1" {
		t.Errorf("%q, %v", text, err)
	}
}

// ping sends an echo request by a socket that takes no capability, as ping does for users who are not root.
func ping(t *testing.T, from *Pod, to netip.Addr) {
	t.Helper()
	var fd int
	err := inside(from.Namespace, func() (err error) {
		fd, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMP)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Sendto(fd, []byte{8, 0, 0, 0, 0, 0, 0, 1}, 0, &unix.SockaddrInet4{Addr: to.As4()}); err != nil {
		t.Fatalf("ping %s: %v", to, err)
	}
	reply := make([]byte, 64)
	size, _, err := unix.Recvfrom(fd, reply, 0)
	if err != nil || size < 1 || reply[0] != 0 {
		t.Errorf("ping %s: %v, %v", to, reply[:max(size, 0)], err)
	}
}

func TestPodsPingEachOtherAndTheGateway(t *testing.T) {
	n := openNetwork(t)
	a, b := attach(t, n, 2), attach(t, n, 3)
	ping(t, a, b.Address)
	ping(t, b, a.Address)
	ping(t, a, n.gateway)
}

// sentAgain is how many packets of TCP a pod has sent more than once.
func sentAgain(t *testing.T, p *Pod) string {
	t.Helper()
	var text []byte
	err := inside(p.Namespace, func() (err error) {
		text, err = os.ReadFile("/proc/thread-self/net/snmp")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var tcp [][]string // A line of names and one of values.
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] == "Tcp:" {
			tcp = append(tcp, fields)
		}
	}
	return tcp[1][slices.Index(tcp[0], "RetransSegs")]
}

func TestAServiceLeadsToItsBackends(t *testing.T) {
	n := openNetwork(t)
	a, b, c := attach(t, n, 2), attach(t, n, 3), attach(t, n, 4)
	serve(t, a, 8080, "a")
	serve(t, b, 8081, "b")
	port := func(last byte, backends ...string) runtime.ServicePort {
		p := runtime.ServicePort{Protocol: runtime.TCP, Address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 96, 0, last}), 80)}
		for _, b := range backends {
			p.Backends = append(p.Backends, netip.MustParseAddrPort(b))
		}
		return p
	}
	balanced, sticky := port(1, "10.244.0.2:8080", "10.244.0.3:8081"), port(2, "10.244.0.2:8080", "10.244.0.3:8081")
	sticky.Sticky = true
	services := runtime.Services{
		Range: netip.MustParsePrefix("10.96.0.0/16"),
		Ports: []runtime.ServicePort{balanced, sticky, port(3), port(4, "10.244.0.2:8080")},
	}
	if err := n.SetServices(services); err != nil {
		t.Fatal(err)
	}
	asks := func(to string, times int) (seen map[string]int) {
		seen = map[string]int{}
		for range times {
			text, err := ask(t, c, to)
			if err != nil {
				t.Fatalf("%s: %v", to, err)
			}
			seen[text]++
		}
		return seen
	}
	// One of two, by chance: that one of them is never asked has a probability of 2^-63.
	if seen := asks("10.96.0.1:80", 64); seen["a 10.244.0.4"] == 0 || seen["b 10.244.0.4"] == 0 || len(seen) != 2 {
		t.Errorf("of two backends: %v", seen)
	}
	if seen := asks("10.96.0.2:80", 64); len(seen) != 1 {
		t.Errorf("of two backends, always the same: %v", seen)
	}
	// A pod behind a Service reaches itself by it.
	wantAnswer(t, a, "10.96.0.4:80", "a 10.244.0.1")
	for _, none := range []string{"10.96.0.3:80", "10.96.0.1:81", "10.96.200.1:80"} {
		if got, err := ask(t, c, none); !errors.Is(err, unix.ECONNREFUSED) {
			t.Errorf("%s: %q, %v", none, got, err)
		}
	}
	// However often it is asked, it is refused at once.
	for range 16 {
		if got, err := ask(t, c, "10.96.0.3:80"); !errors.Is(err, unix.ECONNREFUSED) {
			t.Fatalf("asked again: %q, %v", got, err)
		}
	}
	if n := sentAgain(t, c); n != "0" {
		t.Fatalf("%s packets were sent again, as they were not answered", n)
	}
	if conn, err := n.Dial(await.Context(t), netip.MustParseAddrPort("10.96.0.3:80")); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("asked by this process: %v, %v", conn, err)
	}
	for _, gone := range []string{"10.244.0.9:80", "10.244.7.1:80"} {
		if got, err := ask(t, c, gone); !errors.Is(err, unix.ECONNREFUSED) {
			t.Errorf("a pod that is gone, %s: %q, %v", gone, got, err)
		}
	}
	// The process itself reaches Services too, for ports of the machine that lead to them.
	conn, err := n.Dial(await.Context(t), netip.MustParseAddrPort("10.96.0.4:80"))
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()

	services.Ports = []runtime.ServicePort{port(1, "10.244.0.3:8081")}
	if err := n.SetServices(services); err != nil {
		t.Fatal(err)
	}
	if seen := asks("10.96.0.1:80", 16); seen["b 10.244.0.4"] != 16 {
		t.Errorf("of the one backend that is left: %v", seen)
	}
	if got, err := ask(t, c, "10.96.0.4:80"); err == nil {
		t.Errorf("a Service that is gone answers %q", got)
	}
}

func TestPodsReachTheMachine(t *testing.T) {
	n := openNetwork(t)
	a := attach(t, n, 2)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	greet(t, listener, "its loopback address")
	wantAnswer(t, a, fmt.Sprintf("10.244.0.1:%d", listener.Addr().(*net.TCPAddr).Port), "its loopback address 127.0.0.1")
	if listener, err = net.Listen("tcp4", machineAddress.String()+":0"); err != nil {
		t.Fatal(err)
	}
	greet(t, listener, "its address")
	wantAnswer(t, a, listener.Addr().String(), "its address 192.0.2.1")
}

func TestAServiceLeadsToTheMachine(t *testing.T) {
	n := openNetwork(t)
	a := attach(t, n, 2)
	service := func(last byte, backends ...string) runtime.ServicePort {
		p := runtime.ServicePort{Protocol: runtime.TCP, Address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 96, 0, last}), 443)}
		for _, b := range backends {
			p.Backends = append(p.Backends, netip.MustParseAddrPort(b))
		}
		return p
	}
	on := func(address, text string) string {
		listener, err := net.Listen("tcp4", address+":0")
		if err != nil {
			t.Fatal(err)
		}
		greet(t, listener, text)
		_, port, _ := net.SplitHostPort(listener.Addr().String())
		return ":" + port
	}
	loopbackPort := on("127.0.0.1", "loopback")
	address := machineAddress.String() + on(machineAddress.String(), "machine")
	serve(t, a, 8080, "pod")
	sticky := service(4, address, n.gateway.String()+loopbackPort)
	sticky.Sticky = true
	if err := n.SetServices(runtime.Services{Range: netip.MustParsePrefix("10.96.0.0/16"), Ports: []runtime.ServicePort{
		service(1, n.gateway.String()+loopbackPort),
		service(2, address),
		service(3, address, "10.244.0.2:8080"),
		sticky,
	}}); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, a, "10.96.0.1:443", "loopback 127.0.0.1")
	wantAnswer(t, a, "10.96.0.2:443", "machine 192.0.2.1")
	seen := map[string]map[string]bool{"10.96.0.3:443": {}, "10.96.0.4:443": {}}
	for to, answers := range seen {
		for range 64 {
			text, err := ask(t, a, to)
			if err != nil {
				t.Fatalf("%s: %v", to, err)
			}
			answers[text] = true
		}
	}
	// That one of two is never asked has a probability of 2^-63.
	if of := seen["10.96.0.3:443"]; len(of) != 2 {
		t.Errorf("of a pod and the machine: %v", of)
	}
	if of := seen["10.96.0.4:443"]; len(of) != 1 {
		t.Errorf("of two on the machine, always the same: %v", of)
	}
	conn, err := n.Dial(await.Context(t), netip.MustParseAddrPort("10.96.0.1:443"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if text, err := io.ReadAll(conn); err != nil || string(text) != "loopback 127.0.0.1" {
		t.Errorf("asked by this process: %q, %v", text, err)
	}
}

func TestWhatIsNotTCPDoesNotLeave(t *testing.T) {
	n := openNetwork(t)
	a := attach(t, n, 2)
	err := inside(a.Namespace, func() error {
		conn, err := net.Dial("udp4", "192.0.2.1:9")
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := conn.Write([]byte("x")); err != nil {
			return err
		}
		_, err = conn.Read(make([]byte, 1))
		return err
	})
	if !errors.Is(err, unix.ECONNREFUSED) {
		t.Error(err)
	}
}

// Where a target refuses, the connection that was accepted in its place is reset.
func TestATargetThatRefusesResets(t *testing.T) {
	n := openNetwork(t)
	a := attach(t, n, 2)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	if got, err := ask(t, a, fmt.Sprintf("10.244.0.1:%d", port)); !errors.Is(err, unix.ECONNRESET) {
		t.Errorf("%q, %v", got, err)
	}
}

// The kernel would say no more often than once a second that there is no such host, and clients wait between their attempts.
func TestAnAddressOfNoPodRefuses(t *testing.T) {
	n := openNetwork(t)
	p := attach(t, n, 2)
	for name, dial := range map[string]func(context.Context, netip.AddrPort) (*net.TCPConn, error){"a pod": p.Dial, "this process": n.Dial} {
		for range 10 {
			if _, err := dial(await.Context(t), netip.AddrPortFrom(addr(9), 80)); !errors.Is(err, unix.ECONNREFUSED) {
				t.Fatalf("%s connected: %v", name, err)
			}
		}
	}
}

// A pod that sends from the address of another one is not heard.
func TestAPodCannotPretendToBeAnother(t *testing.T) {
	n := openNetwork(t)
	a, b := attach(t, n, 2), attach(t, n, 3)
	var server net.PacketConn
	err := inside(b.Namespace, func() (err error) {
		server, err = net.ListenPacket("udp4", "0.0.0.0:53")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	err = inside(a.Namespace, func() error {
		links, err := netlink.NewHandle(unix.NETLINK_ROUTE)
		if err != nil {
			return err
		}
		defer links.Close()
		if err := links.AddrAdd(loopback, &netlink.Addr{IPNet: host(addr(9))}); err != nil {
			return err
		}
		for i, from := range []string{"10.244.0.2", "10.244.0.9", "10.244.0.2"} {
			conn, err := (&net.Dialer{LocalAddr: &net.UDPAddr{IP: net.ParseIP(from)}}).Dial("udp4", "10.244.0.3:53")
			if err != nil {
				return err
			}
			fmt.Fprint(conn, i, " from ", from)
			conn.Close()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0 from 10.244.0.2", "2 from 10.244.0.2"} {
		text := make([]byte, 64)
		size, _, err := server.ReadFrom(text)
		if err != nil || string(text[:size]) != want {
			t.Errorf("heard %q, %v, want %q", text[:size], err, want)
		}
	}
}

func (n *Network) linkCount(t testing.TB) int {
	t.Helper()
	all, err := n.links.LinkList()
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, l := range all {
		if strings.HasPrefix(l.Attrs().Name, "pod") {
			count++
		}
	}
	return count
}

func descriptors(t testing.TB) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func TestManyPodsLeaveNothing(t *testing.T) {
	n := openNetwork(t)
	attach(t, n, 2).Close()
	before := descriptors(t)
	for i := range 1000 {
		last := byte(2 + i%200)
		if i%100 == 0 {
			// Used again while the kernel still removes what had it before.
			last = 2 + (last-3)%200
		}
		p, err := n.Attach(addr(last))
		if err != nil {
			t.Fatal(i, err)
		}
		p.Close()
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors are open, %d before", after, before)
	}
	await.Until(t, "the kernel has removed all links", func() bool { return n.linkCount(t) == 0 })
	routes, err := n.links.RouteList(nil, netlink.FAMILY_V4)
	if err != nil || len(routes) != 1 {
		t.Errorf("routes are left, not only the one of the network: %v, %v", routes, err)
	}
}

// The kernel removes the link of a pod that is gone at a time of its own, which may be just before the next pod does.
func TestALinkThatIsGoneNeedNotBeRemoved(t *testing.T) {
	n := openNetwork(t)
	attach(t, n, 2)
	for range 2 {
		if err := n.removeLink(linkName(addr(2))); err != nil {
			t.Fatal(err)
		}
	}
	if count := n.linkCount(t); count != 0 {
		t.Errorf("%d links are left", count)
	}
}

// Nothing of the machine's is changed: neither its interfaces and routes nor its rules.
func TestTheMachineDoesNotChange(t *testing.T) {
	machine := func() string {
		var all strings.Builder
		for _, file := range []string{"/proc/net/dev", "/proc/net/route"} {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				name, rest, _ := strings.Cut(line, ":")
				if file == "/proc/net/route" {
					name = name + rest
				}
				all.WriteString(name)
			}
		}
		forward, _ := os.ReadFile("/proc/sys/net/ipv4/ip_forward")
		return all.String() + string(forward)
	}
	before := machine()
	attach(t, openNetwork(t), 2)
	if after := machine(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func TestAnAddressMustBeAPods(t *testing.T) {
	n := openNetwork(t)
	for _, wrong := range []string{"10.244.0.1", "10.1.0.2", "127.0.0.1"} {
		if _, err := n.Attach(netip.MustParseAddr(wrong)); err == nil {
			t.Errorf("%s was accepted", wrong)
		}
	}
}

func TestUnprivileged(t *testing.T) { unprivileged.Run(t, "^Test[^U]") }

func BenchmarkAttach(b *testing.B) {
	n := openNetwork(b)
	pool := NewPool(pods)
	for b.Loop() {
		addr, err := pool.Take("pod")
		if err != nil {
			b.Fatal(err)
		}
		p, err := n.Attach(addr)
		if err != nil {
			b.Fatal(err)
		}
		pool.Release("pod")
		p.Close()
	}
}
