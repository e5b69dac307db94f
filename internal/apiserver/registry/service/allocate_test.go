package service_test

import (
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/apiserver/registry/service"
)

var tiny = netip.MustParsePrefix("10.0.0.0/29")

func TestAddressesAreGivenOutUntilNoneIsLeft(t *testing.T) {
	var all []corev1.Service
	for range 5 { // eight, without the first, the last, and the one of the API server
		s := corev1.ServiceSpec{}
		if errs := service.Allocate(&s, nil, tiny, service.TakenBy(all)); len(errs) > 0 {
			t.Fatal(errs)
		}
		addr := netip.MustParseAddr(s.ClusterIP)
		if !tiny.Contains(addr) || addr == service.FirstAddress(tiny) {
			t.Errorf("%s is given out", addr)
		}
		for _, other := range all {
			if other.Spec.ClusterIP == s.ClusterIP {
				t.Errorf("%s is given out twice", addr)
			}
		}
		all = append(all, corev1.Service{Spec: s})
	}
	if errs := service.Allocate(&corev1.ServiceSpec{}, nil, tiny, service.TakenBy(all)); len(errs) != 1 {
		t.Errorf("none is left: %v", errs)
	}
}

func TestNodePortsAreGivenOutUntilNoneIsLeft(t *testing.T) {
	const size = service.LastNodePort - service.FirstNodePort + 1
	s := corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: make([]corev1.ServicePort, size+1)}
	errs := service.Allocate(&s, nil, tiny, service.TakenBy(nil))
	if len(errs) != 1 || errs[0].Field != "spec.ports[2768].nodePort" {
		t.Errorf("errors %v", errs)
	}
	seen := map[int32]bool{}
	for _, p := range s.Ports[:size] {
		if p.NodePort < service.FirstNodePort || p.NodePort > service.LastNodePort || seen[p.NodePort] {
			t.Fatalf("port %d", p.NodePort)
		}
		seen[p.NodePort] = true
	}
}

func TestWhatAServiceAsksForMustBeFree(t *testing.T) {
	others := []corev1.Service{{Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.2", Ports: []corev1.ServicePort{{Protocol: corev1.ProtocolTCP, NodePort: 30000}}}}}
	port := func(protocol corev1.Protocol, n int32) corev1.ServiceSpec {
		return corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Protocol: protocol, NodePort: n}}}
	}
	for name, c := range map[string]struct {
		spec corev1.ServiceSpec
		ok   bool
	}{
		"a free address":                     {corev1.ServiceSpec{ClusterIP: "10.0.0.3"}, true},
		"an address of another":              {corev1.ServiceSpec{ClusterIP: "10.0.0.2"}, false},
		"one outside the range":              {corev1.ServiceSpec{ClusterIP: "10.0.0.9"}, false},
		"the first of the range":             {corev1.ServiceSpec{ClusterIP: "10.0.0.0"}, false},
		"the last of the range":              {corev1.ServiceSpec{ClusterIP: "10.0.0.7"}, false},
		"none":                               {corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}, true},
		"a free port":                        {port(corev1.ProtocolTCP, 30001), true},
		"a port of another":                  {port(corev1.ProtocolTCP, 30000), false},
		"a port of another by another route": {port(corev1.ProtocolUDP, 30000), true},
		"a port below the range":             {port(corev1.ProtocolTCP, 29999), false},
		"a port above the range":             {port(corev1.ProtocolTCP, 32768), false},
	} {
		t.Run(name, func(t *testing.T) {
			if errs := service.Allocate(&c.spec, nil, tiny, service.TakenBy(others)); len(errs) == 0 != c.ok {
				t.Errorf("errors %v", errs)
			}
		})
	}
}

func TestAServiceKeepsWhatItHad(t *testing.T) {
	// Its address is of a former range, and the store has it too.
	was := corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, ClusterIP: "10.9.0.9", ClusterIPs: []string{"10.9.0.9"},
		Ports: []corev1.ServicePort{{Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 30000}}}
	s := corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Protocol: corev1.ProtocolTCP, Port: 80}, {Protocol: corev1.ProtocolTCP, Port: 81}}}
	service.Complete(&s, &was)
	if errs := service.Allocate(&s, &was, tiny, service.TakenBy([]corev1.Service{{Spec: was}})); len(errs) > 0 {
		t.Fatal(errs)
	}
	if s.ClusterIP != "10.9.0.9" || s.Ports[0].NodePort != 30000 || s.Ports[1].NodePort == 0 || s.Ports[1].NodePort == 30000 {
		t.Errorf("%+v", s)
	}
}
