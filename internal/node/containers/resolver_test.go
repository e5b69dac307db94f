package containers

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// withNetworks is on a machine whose pods can have networks.
func withNetworks() *Maker {
	return &Maker{isolation: runtime.Info{PodRange: netip.MustParsePrefix("10.244.0.0/16")}}
}

func inNamespace(change func(*corev1.PodSpec)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}, Spec: corev1.PodSpec{DNSPolicy: corev1.DNSClusterFirst}}
	if change != nil {
		change(&pod.Spec)
	}
	return pod
}

func TestTheResolverFileOfAPod(t *testing.T) {
	const names = "search ns.svc.cluster.local svc.cluster.local cluster.local"
	config := &corev1.PodDNSConfig{Nameservers: []string{"192.0.2.53"}, Searches: []string{"example.com"},
		Options: []corev1.PodDNSConfigOption{{Name: "timeout", Value: ptr.To("1")}, {Name: "rotate"}}}
	for sentence, c := range map[string]struct {
		change func(*corev1.PodSpec)
		want   string
	}{
		"by default names of Services": {nil, "nameserver 10.244.0.1\n" + names + "\noptions ndots:5\n"},
		"the machine's names":          {func(s *corev1.PodSpec) { s.DNSPolicy = corev1.DNSDefault }, "nameserver 10.244.0.1\n"},
		"its own beside them": {func(s *corev1.PodSpec) { s.DNSConfig = config },
			"nameserver 10.244.0.1\nnameserver 192.0.2.53\n" + names + " example.com\noptions ndots:5 timeout:1 rotate\n"},
		"its own alone": {func(s *corev1.PodSpec) { s.DNSPolicy, s.DNSConfig = corev1.DNSNone, config },
			"nameserver 192.0.2.53\nsearch example.com\noptions timeout:1 rotate\n"},
	} {
		if got := withNetworks().resolverConfig(inNamespace(c.change)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", sentence, got, c.want)
		}
	}
}

func TestAProgramOfTheMachineSeesTheResolverFileOfItsPod(t *testing.T) {
	dir, c := t.TempDir(), runtime.Container{}
	start := Start{Pod: inNamespace(nil), VolumesDir: filepath.Join(dir, "pod", "volumes")}
	for range 2 { // A container that restarts writes it again.
		c = runtime.Container{}
		if err := withNetworks().mountResolverFile(&c, start); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.Mounts) != 1 || c.Mounts[0].ContainerPath != "/etc/resolv.conf" || !c.Mounts[0].ReadOnly {
		t.Fatalf("mounts are %+v", c.Mounts)
	}
	if filepath.Dir(c.Mounts[0].HostPath) != filepath.Join(dir, "pod") {
		t.Errorf("the file is %s", c.Mounts[0].HostPath)
	}
	if text, err := os.ReadFile(c.Mounts[0].HostPath); err != nil || string(text) != withNetworks().resolverConfig(start.Pod) {
		t.Errorf("%q, %v", text, err)
	}
}

func TestTheHostsFileOfAPod(t *testing.T) {
	addr := netip.MustParseAddr("10.244.0.7")
	const local = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n"
	if got, want := hostsOf(inNamespace(nil), addr), local+"10.244.0.7\tp\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	inQueue := inNamespace(func(s *corev1.PodSpec) { s.Hostname, s.Subdomain = "worker-0", "queue" })
	if got, want := hostsOf(inQueue, addr), local+"10.244.0.7\tworker-0.queue.ns.svc.cluster.local\tworker-0\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
