package names

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/runtime"
)

func service(name, clusterIP string, ports ...corev1.ServicePort) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name},
		Spec:       corev1.ServiceSpec{ClusterIP: clusterIP, Ports: ports},
	}
}

func slice(of string, port *discoveryv1.EndpointPort, endpoints ...discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "team", Name: of + "-1", Labels: map[string]string{discoveryv1.LabelServiceName: of}},
		AddressType: discoveryv1.AddressTypeIPv4, Endpoints: endpoints,
	}
	if port != nil {
		s.Ports = append(s.Ports, *port)
	}
	return s
}

func endpoint(addr, hostname string, ready bool) discoveryv1.Endpoint {
	e := discoveryv1.Endpoint{Addresses: []string{addr}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}}
	if hostname != "" {
		e.Hostname = &hostname
	}
	return e
}

// lines lists all names, without the domain.
func lines(n runtime.Names) []string {
	var all []string
	for name, addrs := range n.Addresses {
		all = append(all, fmt.Sprint(name, " A ", addrs))
	}
	for name, to := range n.Aliases {
		all = append(all, fmt.Sprint(name, " CNAME ", to))
	}
	for name, ports := range n.Ports {
		for _, p := range ports {
			all = append(all, fmt.Sprint(name, " SRV ", p.Port, " ", p.Host))
		}
	}
	for addr, name := range n.Of {
		all = append(all, fmt.Sprint(addr, " PTR ", name))
	}
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], ".team.svc.cluster.local.", "")
	}
	slices.Sort(all)
	return all
}

func TestNames(t *testing.T) {
	external := service("outside", "")
	external.Spec.Type, external.Spec.ExternalName = corev1.ServiceTypeExternalName, "DB.example.org"
	sql := corev1.ServicePort{Name: "sql", Protocol: corev1.ProtocolTCP, Port: 5432}
	web := &discoveryv1.EndpointPort{Name: ptr.To("web"), Port: ptr.To(int32(80))}
	tooLarge := &discoveryv1.EndpointPort{Name: ptr.To("web"), Port: ptr.To(int32(65536 + 80))}
	ipv6 := slice("w", nil, endpoint("fd00::1", "w-9", true))
	ipv6.AddressType = discoveryv1.AddressTypeIPv6
	for name, c := range map[string]struct {
		services  []*corev1.Service
		endpoints []*discoveryv1.EndpointSlice
		want      []string
	}{
		"a cluster IP": {
			services:  []*corev1.Service{service("db", "10.96.0.7", sql, corev1.ServicePort{Port: 80})},
			endpoints: []*discoveryv1.EndpointSlice{slice("db", web, endpoint("10.244.0.2", "", true))},
			want:      []string{"10.96.0.7 PTR db", "_sql._tcp.db SRV 5432 db", "db A [10.96.0.7]"},
		},
		"no cluster IP yet":      {services: []*corev1.Service{service("db", "")}},
		"a name that is outside": {services: []*corev1.Service{external}, want: []string{"outside CNAME db.example.org."}},
		"an Indexed Job behind a headless Service": {
			services: []*corev1.Service{service("w", corev1.ClusterIPNone)},
			endpoints: []*discoveryv1.EndpointSlice{
				slice("w", web, endpoint("10.244.0.2", "job-0", true), endpoint("10.244.0.3", "job-1", true)),
			},
			want: []string{
				"10.244.0.2 PTR job-0.w", "10.244.0.3 PTR job-1.w", "_web._tcp.w SRV 80 job-0.w", "_web._tcp.w SRV 80 job-1.w",
				"job-0.w A [10.244.0.2]", "job-1.w A [10.244.0.3]", "w A [10.244.0.2 10.244.0.3]",
			},
		},
		"a pod without a hostname": {
			services:  []*corev1.Service{service("w", corev1.ClusterIPNone)},
			endpoints: []*discoveryv1.EndpointSlice{slice("w", nil, endpoint("10.244.0.2", "", true))},
			want:      []string{"10-244-0-2.w A [10.244.0.2]", "w A [10.244.0.2]"},
		},
		"a number that is no port": {
			services:  []*corev1.Service{service("w", corev1.ClusterIPNone)},
			endpoints: []*discoveryv1.EndpointSlice{slice("w", tooLarge, endpoint("10.244.0.2", "a", true))},
			want:      []string{"10.244.0.2 PTR a.w", "a.w A [10.244.0.2]", "w A [10.244.0.2]"},
		},
		"what is not ready, or no IPv4 address": {
			services:  []*corev1.Service{service("w", corev1.ClusterIPNone)},
			endpoints: []*discoveryv1.EndpointSlice{slice("w", nil, endpoint("10.244.0.2", "a", false)), ipv6},
		},
		"an endpoint in two slices": {
			services: []*corev1.Service{service("w", corev1.ClusterIPNone)},
			endpoints: []*discoveryv1.EndpointSlice{
				slice("w", nil, endpoint("10.244.0.2", "a", true)), slice("w", nil, endpoint("10.244.0.2", "a", true)),
			},
			want: []string{"10.244.0.2 PTR a.w", "a.w A [10.244.0.2]", "w A [10.244.0.2]"},
		},
		"the endpoints of another Service": {
			services:  []*corev1.Service{service("w", corev1.ClusterIPNone)},
			endpoints: []*discoveryv1.EndpointSlice{slice("v", nil, endpoint("10.244.0.2", "a", true))},
		},
	} {
		got := Of("cluster.local", c.services, c.endpoints)
		if diff := cmp.Diff(c.want, lines(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got.Domain != "cluster.local." {
			t.Errorf("the domain is %s", got.Domain)
		}
	}
}
