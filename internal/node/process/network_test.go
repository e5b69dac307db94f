package process_test

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/network"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/unprivileged"
)

// loopback80 is a port of a pod that only it reaches itself.
var loopback80 = netip.MustParseAddrPort("127.0.0.1:80")

// networker skips the test if the pods of m cannot have networks.
func networker(t testing.TB, m *machine) *machine {
	t.Helper()
	if why := m.Info().WhyNoNetworks; why != "" {
		t.Skip(why)
	}
	return m
}

// address is one for a pod, with that last byte.
func (m *machine) address(last byte) netip.Addr {
	addr := m.Info().PodRange.Addr().As4()
	addr[3] = last
	return netip.AddrFrom4(addr)
}

// networked gives c the network of a pod.
func (m *machine) networked(c runtime.Container, last byte) runtime.Container {
	c.Network = &runtime.Network{Address: m.address(last)}
	return c
}

// another returns a container of the same pod as c.
func (m *machine) another(c runtime.Container, name string, command ...string) runtime.Container {
	c.Container, c.Command = name, command
	c.LogPath = filepath.Join(filepath.Dir(c.LogPath), name+".log")
	return c
}

func TestTheContainersOfAPodShareItsNetwork(t *testing.T) {
	m := networker(t, start(t))
	const where = "readlink /proc/self/ns/net"
	first := m.networked(m.container("sh", "-c", where), 2)
	there := m.printed(first)
	if again := m.printed(m.another(first, "second", "sh", "-c", where)); again != there {
		t.Errorf("a container of the same pod is in %s, not in %s", again, there)
	}
	if other := m.printed(m.networked(m.container("sh", "-c", where), 3)); other == there {
		t.Errorf("another pod has the same network, %s", other)
	}
	machine, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	// Threads that have started containers with a network start those without.
	for range 20 {
		if out := m.printed(m.container("sh", "-c", where)); out != machine+"\n" {
			t.Errorf("a pod without a network is in %s, not in %s", out, machine)
		}
	}
	routes := m.printed(m.another(first, "third", "cat", "/proc/net/fib_trie"))
	if !strings.Contains(routes, first.Network.Address.String()) {
		t.Errorf("%s is not in\n%s", first.Network.Address, routes)
	}
}

// serving starts a pod that serves a text over HTTP, in an image.
func (m *machine) serving(tree, text string, last byte) runtime.Container {
	m.t.Helper()
	c := m.networked(m.imageContainer(tree, "sh", "-c", "echo "+text+" > /index.html; exec httpd -f -p 80 -h /"), last)
	m.start(c)
	return c
}

// fetch is a command that waits until a server answers.
func fetch(from string) []string {
	return []string{"sh", "-c", "until wget -q -O - http://" + from + "/; do sleep 0.02; done 2>/dev/null"}
}

func TestImagePodsReachEachOtherAndServices(t *testing.T) {
	m := networker(t, imager(t))
	tree := imageTree(t)
	service := netip.MustParseAddrPort("10.96.0.7:8080")
	services := runtime.Services{Range: netip.MustParsePrefix("10.96.0.0/16"), Ports: []runtime.ServicePort{{
		Address: service, Protocol: runtime.TCP, Backends: []netip.AddrPort{netip.AddrPortFrom(m.address(3), 80)},
	}}}
	// Before the first pod, and after.
	if _, err := m.SetServices(await.Context(t), services); err != nil {
		t.Fatal(err)
	}
	m.serving(tree, "one", 2)
	two := m.serving(tree, "two", 3)
	client := m.networked(m.imageContainer(tree, fetch(m.address(2).String())...), 4)
	if got := m.printed(client); got != "one\n" {
		t.Errorf("the first pod answers %q", got)
	}
	if got := m.printed(m.another(client, "by-service", fetch(service.String())...)); got != "two\n" {
		t.Errorf("the Service answers %q", got)
	}
	// Both have the same port of their own loopback address.
	if got := m.printed(m.another(two, "beside", fetch("127.0.0.1")...)); got != "two\n" {
		t.Errorf("the second pod answers itself %q", got)
	}
	services.Ports[0].Backends[0] = netip.AddrPortFrom(m.address(2), 80)
	if _, err := m.SetServices(await.Context(t), services); err != nil {
		t.Fatal(err)
	}
	if got := m.printed(m.another(client, "changed", fetch(service.String())...)); got != "one\n" {
		t.Errorf("the Service leads elsewhere now, and answers %q", got)
	}
	if got := m.printed(m.another(client, "ping", "ping", "-c", "1", "-W", "60", m.address(2).String())); !strings.Contains(got, " 0% packet loss") {
		t.Error(got)
	}
}

// networks counts the network namespaces that the host has open.
func (m *machine) networks() int {
	count := 0
	fds, _ := filepath.Glob("/proc/" + strconv.Itoa(m.hostPID()) + "/fd/*")
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, "net:") {
			count++
		}
	}
	return count
}

func TestThePodsNetworkEndsWithThePod(t *testing.T) {
	m := networker(t, start(t))
	before := m.networks()
	if m.printed(m.container("echo", "done")); m.networks() != before {
		t.Error("a pod without a network has made one")
	}
	c := m.networked(m.container("echo", "done"), 2)
	m.printed(c)
	// One for all pods, and one for this.
	if n := m.networks() - before; n != 2 {
		t.Errorf("%d networks are open while the pod is there", n)
	}
	if err := m.RemovePod(await.Context(t), c.PodUID, ""); err != nil {
		t.Fatal(err)
	}
	// The address is free again. Until another pod has it, the network stays for a while.
	m.printed(m.networked(m.container("echo", "done"), 2))
	if n := m.networks() - before; n != 2 {
		t.Errorf("%d networks are open after the pod", n)
	}
}

// A host that is killed leaves no network. The next one makes them anew, with the Services.
func TestNetworksAfterTheHostIsKilled(t *testing.T) {
	m := networker(t, imager(t))
	tree := imageTree(t)
	service := netip.MustParseAddrPort("10.96.0.7:8080")
	services := runtime.Services{Ports: []runtime.ServicePort{{
		Address: service, Protocol: runtime.TCP, Backends: []netip.AddrPort{netip.AddrPortFrom(m.address(2), 80)},
	}}}
	if _, err := m.SetServices(await.Context(t), services); err != nil {
		t.Fatal(err)
	}
	c := m.networked(m.container("sleep", "1000"), 2)
	m.start(c)
	if err := syscall.Kill(m.hostPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if s := m.wait(c.ID); !s.Lost {
		t.Errorf("it ended as %+v", s)
	}
	m.serving(tree, "anew", 2)
	client := m.networked(m.imageContainer(tree, fetch(m.address(2).String())...), 3)
	m.printed(client)
	if got := m.printed(m.another(client, "by-service", "timeout", "60", "wget", "-q", "-O", "-", "http://"+service.String())); got != "anew\n" {
		t.Errorf("the Service answers %q", got)
	}
}

// Whatever a node asks for, the pod that has an address keeps it.
func TestAnAddressOfAnotherPodIsRefused(t *testing.T) {
	m := networker(t, start(t))
	m.printed(m.networked(m.container("echo", "done"), 2))
	if s := m.run(m.networked(m.container("echo", "done"), 2)); !strings.Contains(s.StartError, "is that of pod pod-1") {
		t.Errorf("%+v", s)
	}
}

func TestAnAddressOfAnotherRangeIsRefused(t *testing.T) {
	m := networker(t, start(t))
	c := m.container("echo", "done")
	c.Network = &runtime.Network{Address: netip.MustParseAddr("192.0.2.7")}
	if s := m.run(c); !strings.Contains(s.StartError, "192.0.2.7 is not an address for a pod") {
		t.Errorf("%+v", s)
	}
}

func TestNetworksWithSubordinateIDs(t *testing.T) {
	unprivileged.WithSubordinateIDs(t, "Network|ImagePods|AddressOfAnother")
}

// BenchmarkPods runs pods of one container to their end and removes them, with a network and without.
func BenchmarkPods(b *testing.B) {
	for name, networked := range map[string]bool{"machine's network": false, "own network": true} {
		b.Run(name, func(b *testing.B) {
			m := networker(b, start(b))
			pool := network.NewPool(m.Info().PodRange)
			before := m.spent(b)
			room := make(chan types.UID, 64)
			b.ResetTimer()
			go func() {
				for range b.N {
					c := m.container("true")
					room <- c.PodUID
					if networked {
						c = m.networked(c, 0)
						c.Network.Address, _ = pool.Take(c.PodUID)
						pool.Release(c.PodUID)
					}
					go m.start(c)
				}
			}()
			for range b.N {
				ended := <-m.Events()
				if err := m.RemovePod(context.Background(), ended.PodUID, ""); err != nil {
					b.Error(err)
				}
				<-room
			}
			report(b, before, m.spent(b))
		})
	}
}

func TestAConnectionAndACommandEnterTheNetworkOfAPod(t *testing.T) {
	m := networker(t, start(t))
	c := m.networked(m.container("sh", "-c", "readlink /proc/self/ns/net; exec sleep 1000"), 2)
	m.start(c)
	var there string
	await.Until(t, "the container has printed", func() bool {
		text, _ := os.ReadFile(c.LogPath)
		fields := strings.Fields(string(text))
		if len(fields) > 3 {
			there = fields[3]
		}
		return there != ""
	})
	var out strings.Builder
	code, err := m.Exec(await.Context(t), c.ID, runtime.Command{Args: []string{"readlink", "/proc/self/ns/net"}}, runtime.Streams{Stdout: &out})
	if err != nil || code != 0 || strings.TrimSpace(out.String()) != there {
		t.Errorf("a command is in %s, not in %s: %d, %v", out.String(), there, code, err)
	}
	if _, err := m.Dial(await.Context(t), c.PodUID, loopback80); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("nothing listens: %v", err)
	}
	if _, err := m.Dial(await.Context(t), "another", loopback80); err == nil || !strings.Contains(err.Error(), "no network") {
		t.Errorf("there is no such pod: %v", err)
	}
}

func TestAConnectionLeadsToThePodsOwnPort(t *testing.T) {
	m := networker(t, imager(t))
	tree := imageTree(t)
	m.serving(tree, "one", 2)
	two := m.serving(tree, "two", 3)
	m.printed(m.another(two, "client", fetch("127.0.0.1")...)) // It listens.
	for where, dial := range map[string]func() (net.Conn, error){
		"in the pod":   func() (net.Conn, error) { return m.Dial(await.Context(t), two.PodUID, loopback80) },
		"from outside": func() (net.Conn, error) { return m.Dial(await.Context(t), "", netip.AddrPortFrom(m.address(3), 80)) },
	} {
		conn, err := dial()
		if err != nil {
			t.Fatal(where, err)
		}
		defer conn.Close()
		if _, err := conn.Write([]byte("GET / HTTP/1.0\r\n\r\n")); err != nil {
			t.Fatal(where, err)
		}
		if answer, err := io.ReadAll(conn); err != nil || !strings.HasSuffix(string(answer), "two\n") {
			t.Errorf("%s: %q, %v", where, answer, err)
		}
	}
}
