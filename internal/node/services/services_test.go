package services_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/node/services"
)

func aService(change func(*corev1.ServiceSpec)) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"}, Spec: corev1.ServiceSpec{
		ClusterIP: "10.96.0.7", Ports: []corev1.ServicePort{{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80}}}}
	if change != nil {
		change(&s.Spec)
	}
	return s
}

func aSlice(service, port string, number int32, endpoints ...discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "ns", Name: service, Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4, Endpoints: endpoints,
		Ports: []discoveryv1.EndpointPort{{Name: &port, Protocol: ptr.To(corev1.ProtocolTCP), Port: &number}},
	}
}

func endpoint(addr string, ready, serving, terminating bool) discoveryv1.Endpoint {
	return discoveryv1.Endpoint{Addresses: []string{addr}, Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &serving, Terminating: &terminating}}
}

func TestWhereServicesLeadTo(t *testing.T) {
	ready, ending, starting := endpoint("10.244.0.2", true, true, false), endpoint("10.244.0.3", false, true, true), endpoint("10.244.0.4", false, false, false)
	one := func(backends ...string) []runtime.ServicePort {
		p := runtime.ServicePort{Address: netip.MustParseAddrPort("10.96.0.7:80"), Protocol: runtime.TCP}
		for _, b := range backends {
			p.Backends = append(p.Backends, netip.MustParseAddrPort(b))
		}
		return []runtime.ServicePort{p}
	}
	for sentence, c := range map[string]struct {
		change func(*corev1.ServiceSpec)
		slice  *discoveryv1.EndpointSlice
		want   []runtime.ServicePort
	}{
		"to pods that are ready":            {nil, aSlice("web", "http", 8080, ready, ending, starting), one("10.244.0.2:8080")},
		"else to those that are ending":     {nil, aSlice("web", "http", 8080, ending, starting), one("10.244.0.3:8080")},
		"not to pods that start":            {nil, aSlice("web", "http", 8080, starting), one()},
		"not to those of another Service":   {nil, aSlice("db", "http", 8080, ready), one()},
		"not to those of another port":      {nil, aSlice("web", "metrics", 8080, ready), one()},
		"a headless Service has no address": {func(s *corev1.ServiceSpec) { s.ClusterIP = corev1.ClusterIPNone }, aSlice("web", "http", 8080, ready), nil},
		"nor has another name":              {func(s *corev1.ServiceSpec) { s.Type = corev1.ServiceTypeExternalName }, aSlice("web", "http", 8080, ready), nil},
		"SCTP is not served":                {func(s *corev1.ServiceSpec) { s.Ports[0].Protocol = corev1.ProtocolSCTP }, aSlice("web", "http", 8080, ready), nil},
	} {
		got := services.Of(netip.MustParsePrefix("10.96.0.0/16"), []*corev1.Service{aService(c.change)}, []*discoveryv1.EndpointSlice{c.slice})
		if diff := cmp.Diff(c.want, got.Ports, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sentence, diff)
		}
	}
	sticky := services.Of(netip.Prefix{}, []*corev1.Service{aService(func(s *corev1.ServiceSpec) { s.SessionAffinity = corev1.ServiceAffinityClientIP })}, nil)
	if !sticky.Ports[0].Sticky {
		t.Error("clients do not stay with one pod")
	}
	for kind, want := range map[corev1.ServiceType]uint16{corev1.ServiceTypeNodePort: 30080, corev1.ServiceTypeClusterIP: 0} {
		got := services.Of(netip.Prefix{}, []*corev1.Service{aService(func(s *corev1.ServiceSpec) { s.Type, s.Ports[0].NodePort = kind, 30080 })}, nil)
		if got.Ports[0].NodePort != want {
			t.Errorf("%s: node port %d, want %d", kind, got.Ports[0].NodePort, want)
		}
	}
}

// The API takes any number as a port of an EndpointSlice. Cut to 16 bits, it would lead to another port.
func TestANumberThatIsNoPortLeadsNowhere(t *testing.T) {
	for _, number := range []int32{0, -1, 65536 + 22} {
		slice := &discoveryv1.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{Namespace: "ns", Name: "web", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
			AddressType: discoveryv1.AddressTypeIPv4,
			Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{"10.244.0.1"}}},
			Ports:       []discoveryv1.EndpointPort{{Name: ptr.To("http"), Port: &number}},
		}
		all := services.Of(netip.Prefix{}, []*corev1.Service{aService(nil)}, []*discoveryv1.EndpointSlice{slice})
		if len(all.Ports) != 1 || len(all.Ports[0].Backends) > 0 {
			t.Errorf("port %d leads to %v", number, all.Ports)
		}
	}
}
