package service_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
	"github.com/stint-dev/stint/internal/apiserver/registry/service"
)

func aService(change func(*corev1.ServiceSpec)) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "default"},
		Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "s"}, Ports: []corev1.ServicePort{{Port: 80}}}}
	if change != nil {
		change(&s.Spec)
	}
	return s
}

// created does with a Service what the server does before it validates it.
func created(s *corev1.Service) field.ErrorList {
	r := service.Resource()
	r.Default(s)
	service.Complete(&s.Spec, nil)
	errs := service.Allocate(&s.Spec, nil, tiny, service.TakenBy(nil))
	return append(errs, r.Validate(context.Background(), s)...)
}

func fields(errs field.ErrorList) string {
	var all []string
	for _, err := range errs {
		all = append(all, err.Field)
	}
	return strings.Join(all, " ")
}

func TestWhatAServiceMaySay(t *testing.T) {
	name := func(s *corev1.ServiceSpec) {
		*s = corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "example.com"}
	}
	for sentence, c := range map[string]struct {
		change func(*corev1.ServiceSpec)
		want   string
	}{
		"a port is enough":                  {nil, ""},
		"a port is needed":                  {func(s *corev1.ServiceSpec) { s.Ports = nil }, "spec.ports"},
		"a headless one needs none":         {func(s *corev1.ServiceSpec) { s.Ports, s.ClusterIP = nil, "None" }, ""},
		"a headless one has no node ports":  {func(s *corev1.ServiceSpec) { s.ClusterIP, s.Type = "None", "NodePort" }, "spec.clusterIPs[0]"},
		"there are no load balancers":       {func(s *corev1.ServiceSpec) { s.Type = "LoadBalancer" }, "spec.type"},
		"there is only IPv4":                {func(s *corev1.ServiceSpec) { s.IPFamilies = []corev1.IPFamily{"IPv6"} }, "spec.ipFamilies[0]"},
		"there are no two families":         {func(s *corev1.ServiceSpec) { s.IPFamilyPolicy = ptr.To(corev1.IPFamilyPolicyRequireDualStack) }, "spec.ipFamilyPolicy"},
		"unless users write the endpoints":  {func(s *corev1.ServiceSpec) { s.Selector, s.ClusterIP = nil, "None" }, ""},
		"nothing listens elsewhere":         {func(s *corev1.ServiceSpec) { s.ExternalIPs = []string{"1.2.3.4"} }, "spec.externalIPs"},
		"there are no balancers to choose":  {func(s *corev1.ServiceSpec) { s.LoadBalancerClass = ptr.To("example.com/class") }, "spec.loadBalancerClass"},
		"nobody asks for its health":        {func(s *corev1.ServiceSpec) { s.HealthCheckNodePort = 30000 }, "spec.healthCheckNodePort"},
		"another name is enough":            {name, ""},
		"another name needs no port":        {func(s *corev1.ServiceSpec) { name(s); s.Ports = nil }, ""},
		"another name has no address":       {func(s *corev1.ServiceSpec) { name(s); s.ClusterIP = "10.0.0.3" }, "spec.clusterIPs"},
		"affinity lasts a day at most":      {func(s *corev1.ServiceSpec) { sticky(s, 86401) }, "spec.sessionAffinityConfig.clientIP.timeoutSeconds"},
		"affinity ends at no other time":    {func(s *corev1.ServiceSpec) { sticky(s, 86400) }, "spec.sessionAffinityConfig.clientIP.timeoutSeconds"},
		"affinity may have its default":     {func(s *corev1.ServiceSpec) { sticky(s, 10800) }, ""},
		"SCTP is not forwarded":             {func(s *corev1.ServiceSpec) { s.Ports[0].Protocol = "SCTP" }, "spec.ports[0].protocol"},
		"SCTP reaches pods directly":        {func(s *corev1.ServiceSpec) { s.ClusterIP, s.Ports[0].Protocol = "None", "SCTP" }, ""},
		"several ports need names":          {func(s *corev1.ServiceSpec) { s.Ports = append(s.Ports, corev1.ServicePort{Port: 81}) }, "spec.ports[0].name spec.ports[1].name"},
		"only node ports have a policy":     {func(s *corev1.ServiceSpec) { s.ExternalTrafficPolicy = "Local" }, "spec.externalTrafficPolicy"},
		"an address is one of IPv4":         {func(s *corev1.ServiceSpec) { s.ClusterIP = "::1" }, "spec.clusterIPs[0]"},
		"both fields have the same address": {func(s *corev1.ServiceSpec) { s.ClusterIP, s.ClusterIPs = "10.0.0.3", []string{"10.0.0.4"} }, "spec.clusterIPs"},
		"node ports are for TCP": {func(s *corev1.ServiceSpec) {
			s.Type, s.Ports[0].Protocol = corev1.ServiceTypeNodePort, corev1.ProtocolUDP
		}, "spec.ports[0].protocol"},
		"a node port needs the type for it":  {func(s *corev1.ServiceSpec) { s.Ports[0].NodePort = 30000 }, "spec.ports[0].nodePort"},
		"the name of a port is not too long": {func(s *corev1.ServiceSpec) { s.Ports[0].TargetPort = intstr.FromString("a-name-of-a-port") }, "spec.ports[0].targetPort"},
	} {
		if got := fields(created(aService(c.change))); got != c.want {
			t.Errorf("%s: errors in %q, want %q", sentence, got, c.want)
		}
	}
}

func sticky(s *corev1.ServiceSpec, seconds int32) {
	s.SessionAffinity = corev1.ServiceAffinityClientIP
	s.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: &seconds}}
}

func TestTheAddressOfAServiceIsImmutable(t *testing.T) {
	was := aService(func(s *corev1.ServiceSpec) { s.ClusterIP = "10.0.0.2" })
	if errs := created(was); len(errs) > 0 {
		t.Fatal(errs)
	}
	for sentence, c := range map[string]struct {
		change func(*corev1.ServiceSpec)
		want   string
	}{
		"the same":             {nil, ""},
		"left out":             {func(s *corev1.ServiceSpec) { s.ClusterIP, s.ClusterIPs = "", nil }, ""},
		"another":              {func(s *corev1.ServiceSpec) { s.ClusterIP = "10.0.0.5" }, "spec.clusterIPs[0]"},
		"none":                 {func(s *corev1.ServiceSpec) { s.ClusterIP = "None" }, "spec.clusterIPs[0]"},
		"another name instead": {func(s *corev1.ServiceSpec) { s.Type, s.ExternalName = "ExternalName", "example.com" }, ""},
	} {
		s := was.DeepCopy()
		if c.change != nil {
			c.change(&s.Spec)
		}
		r := service.Resource()
		service.Complete(&s.Spec, &was.Spec)
		r.PrepareForUpdate(t.Context(), s, was)
		if got := fields(r.ValidateUpdate(t.Context(), s, was)); got != c.want {
			t.Errorf("%s: errors in %q, want %q", sentence, got, c.want)
		}
	}
}

func aSlice(change func(*discoveryv1.EndpointSlice)) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: "default"}, AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.1.2.3"}}}, Ports: []discoveryv1.EndpointPort{{Port: ptr.To(int32(80))}}}
	if change != nil {
		change(s)
	}
	return s
}

func TestWhatAnEndpointSliceMaySay(t *testing.T) {
	r := service.Slice()
	address := func(a string) func(*discoveryv1.EndpointSlice) {
		return func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].Addresses[0] = a }
	}
	for sentence, c := range map[string]struct {
		change func(*discoveryv1.EndpointSlice)
		want   string
	}{
		"an address is enough":       {nil, ""},
		"a type is needed":           {func(s *discoveryv1.EndpointSlice) { s.AddressType = "" }, "addressType"},
		"an address is needed":       {func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].Addresses = nil }, "endpoints[0].addresses"},
		"it is of the type":          {address("fd00::1"), "endpoints[0].addresses[0]"},
		"a loopback address is none": {address("127.0.0.1"), "endpoints[0].addresses[0]"},
		"a hostname is a label":      {func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].Hostname = ptr.To("A.b") }, "endpoints[0].hostname"},
		"ports differ in their names": {func(s *discoveryv1.EndpointSlice) {
			s.Ports = append(s.Ports, *s.Ports[0].DeepCopy())
		}, "ports[1].name"},
		"there are 1000 endpoints at most": {func(s *discoveryv1.EndpointSlice) { s.Endpoints = make([]discoveryv1.Endpoint, 1001) }, "endpoints"},
	} {
		s := aSlice(c.change)
		r.Default(s)
		if got := fields(r.Validate(t.Context(), s)); got != c.want {
			t.Errorf("%s: errors in %q, want %q", sentence, got, c.want)
		}
	}
}

func TestTheGenerationOfASliceIsThatOfItsContent(t *testing.T) {
	r := service.Slice()
	was := aSlice(nil)
	r.Default(was)
	r.PrepareForCreate(t.Context(), was)
	same, other := was.DeepCopy(), was.DeepCopy()
	same.Annotations, other.Endpoints = map[string]string{"a": "b"}, nil
	r.PrepareForUpdate(t.Context(), same, was)
	r.PrepareForUpdate(t.Context(), other, was)
	if was.Generation != 1 || same.Generation != 1 || other.Generation != 2 {
		t.Errorf("generations %d, %d and %d", was.Generation, same.Generation, other.Generation)
	}
	other.AddressType = discoveryv1.AddressTypeIPv6
	if got := fields(r.ValidateUpdate(t.Context(), other, was)); got != "addressType" {
		t.Errorf("another type of address: %q", got)
	}
}

func TestTables(t *testing.T) {
	two := aService(func(s *corev1.ServiceSpec) {
		s.Type, s.ClusterIP = corev1.ServiceTypeNodePort, "10.0.0.2"
		s.Ports = []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP, NodePort: 30001}, {Port: 53, Protocol: corev1.ProtocolUDP}}
	})
	two.CreationTimestamp = registrytest.Ago(0)
	name := aService(func(s *corev1.ServiceSpec) {
		*s = corev1.ServiceSpec{Type: "ExternalName", ExternalName: "example.com"}
	})
	name.CreationTimestamp = two.CreationTimestamp
	many := aSlice(func(s *discoveryv1.EndpointSlice) {
		s.Endpoints = []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1", "10.0.0.2"}}, {Addresses: []string{"10.0.0.3", "10.0.0.4"}}}
		s.Ports = append(s.Ports, discoveryv1.EndpointPort{Name: ptr.To("any")})
	})
	now := two.CreationTimestamp.Time
	many.CreationTimestamp = two.CreationTimestamp
	for i, got := range [][]any{service.Resource().Row(two, now), service.Resource().Row(name, now), service.Slice().Row(many, now)} {
		want := [][]any{
			{"s", "NodePort", "10.0.0.2", "<none>", "80:30001/TCP,53/UDP", "0s", "app=s"},
			{"s", "ExternalName", "<none>", "example.com", "<none>", "0s", "<none>"},
			{"s", "IPv4", "80,any", "10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...", "0s"},
		}[i]
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
