package containers

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/downward"
	"github.com/stint-dev/stint/internal/node/env"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// atMachine makes containers on a machine whose pods can have networks and mounts.
func atMachine() *Maker {
	return &Maker{
		Config:    Config{Env: env.Resolver{Facts: downward.Facts{IP: "192.0.2.1"}}},
		isolation: runtime.Info{PodRange: netip.MustParsePrefix("10.244.0.0/16"), CanMount: true},
	}
}

// ownNetwork is that of a pod which has one.
func ownNetwork() *runtime.Network {
	return &runtime.Network{Address: netip.MustParseAddr("10.244.0.7")}
}

func TestAPodIsInItsHostsFile(t *testing.T) {
	machine, err := os.ReadFile(hostsFile)
	if err != nil {
		t.Skip(err)
	}
	for what, tc := range map[string]struct {
		spec corev1.PodSpec
		want string
	}{
		"a name":              {corev1.PodSpec{}, "IP\tpod\n"},
		"a subdomain":         {corev1.PodSpec{Subdomain: "sub"}, "IP\tpod.sub.ns.svc.cluster.local\tpod\n"},
		"the whole name":      {corev1.PodSpec{Subdomain: "sub", SetHostnameAsFQDN: ptr.To(true)}, "IP\tpod.sub.ns.svc.cluster.local\tpod\n"},
		"another one for all": {corev1.PodSpec{Subdomain: "sub", HostnameOverride: ptr.To("other.name")}, "IP\tother.name\n"},
		"and others": {corev1.PodSpec{HostAliases: []corev1.HostAlias{{IP: "192.0.2.7", Hostnames: []string{"a", "b"}}}},
			"IP\tpod\n\n# Entries added by HostAliases.\n192.0.2.7\ta\tb\n"},
	} {
		s := Start{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "ns"}, Spec: tc.spec}}
		want := "\n# The pod.\n" + tc.want
		if diff := cmp.Diff(string(machine)+strings.ReplaceAll(want, "IP", "192.0.2.1"), atMachine().hosts(s)); diff != "" {
			t.Errorf("%s, in the machine's network (-want +got):\n%s", what, diff)
		}
		s.Network = ownNetwork()
		if diff := cmp.Diff(ownHosts+strings.ReplaceAll(want, "IP", "10.244.0.7"), atMachine().hosts(s)); diff != "" {
			t.Errorf("%s, in a network of its own (-want +got):\n%s", what, diff)
		}
	}
}

func TestWhichFilesProcessesSee(t *testing.T) {
	aliases := []corev1.HostAlias{{IP: "192.0.2.7", Hostnames: []string{"a"}}}
	for what, tc := range map[string]struct {
		spec    corev1.PodSpec
		network *runtime.Network
		mounted []string
		want    []string
	}{
		"the machine's":                 {},
		"a subdomain":                   {spec: corev1.PodSpec{Subdomain: "sub"}, want: []string{hostsFile}},
		"hostAliases":                   {spec: corev1.PodSpec{HostAliases: aliases}, want: []string{hostsFile}},
		"a network":                     {network: ownNetwork(), want: []string{hostsFile, resolverFile}},
		"what they mount there is seen": {network: ownNetwork(), mounted: []string{resolverFile}, want: []string{hostsFile}},
	} {
		dir, pod := filepath.Join(t.TempDir(), "pod"), inNamespace(func(s *corev1.PodSpec) { *s = tc.spec })
		s := Start{Pod: pod, Network: tc.network, Dir: dir}
		for range 2 { // A container that restarts finds the files.
			var c runtime.Container
			for _, path := range tc.mounted {
				c.Mounts = append(c.Mounts, runtime.Mount{HostPath: "/volume", ContainerPath: path})
			}
			if err := atMachine().mountFiles(&c, s); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range c.Mounts[len(tc.mounted):] {
				got = append(got, m.ContainerPath)
				text, err := os.ReadFile(m.HostPath)
				if want := atMachine().files(s)[m.ContainerPath]; err != nil || string(text) != want || filepath.Dir(m.HostPath) != dir {
					t.Errorf("%s: %s has %q, want %q; %v", what, m.HostPath, text, want, err)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
	}
}
