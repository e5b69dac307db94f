package endpointslice

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

func aService(changes ...func(*corev1.Service)) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", UID: "service"}, Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": "web"}, Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.96.0.7",
		Ports: []corev1.ServicePort{{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80, TargetPort: intstr.FromInt32(8080)}}}}
	for _, change := range changes {
		change(s)
	}
	return s
}

func named(port *corev1.Service) { port.Spec.Ports[0].TargetPort = intstr.FromString("http") }

func aPod(n int, changes ...func(*corev1.Pod)) *corev1.Pod {
	name := fmt.Sprintf("p%03d", n)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), Labels: map[string]string{"app": "web"}},
		Spec:   corev1.PodSpec{NodeName: "here", Containers: []corev1.Container{{Name: "main"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: fmt.Sprintf("10.244.0.%d", n), Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
	for _, change := range changes {
		change(p)
	}
	return p
}

func notReady(p *corev1.Pod)    { p.Status.Conditions = nil }
func terminating(p *corev1.Pod) { p.DeletionTimestamp = ptr.To(metav1.Now()) }
func listens(port int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: port, Protocol: corev1.ProtocolTCP}}
	}
}

func TestWhichPodsAreEndpoints(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"one that runs":                                    {func(*corev1.Pod) {}, true},
		"one that is not ready":                            {notReady, true},
		"one that is told to end":                          {terminating, true},
		"one without an address":                           {func(p *corev1.Pod) { p.Status.PodIP = "" }, false},
		"one that has only the machine's loopback address": {func(p *corev1.Pod) { p.Status.PodIP = "127.0.0.1" }, false},
		"one that has ended":                               {func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, false},
	} {
		if got := len(endpointsOf(aService(), []*corev1.Pod{aPod(1, c.change)})) > 0; got != c.want {
			t.Errorf("%s: %t", sentence, got)
		}
	}
}

func TestConditionsOfEndpoints(t *testing.T) {
	published := func(s *corev1.Service) { s.Spec.PublishNotReadyAddresses = true }
	for sentence, c := range map[string]struct {
		svc                         *corev1.Service
		pod                         *corev1.Pod
		ready, serving, terminating bool
	}{
		"a pod that is ready":                   {aService(), aPod(1), true, true, false},
		"one that is not":                       {aService(), aPod(1, notReady), false, false, false},
		"one that is ready and told to end":     {aService(), aPod(1, terminating), false, true, true},
		"one that is not ready, and published":  {aService(published), aPod(1, notReady), true, false, false},
		"one that is told to end and published": {aService(published), aPod(1, terminating), true, true, true},
	} {
		got := endpointsOf(c.svc, []*corev1.Pod{c.pod})[0].endpoints[0].Conditions
		want := discoveryv1.EndpointConditions{Ready: &c.ready, Serving: &c.serving, Terminating: &c.terminating}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sentence, diff)
		}
	}
}

func TestHostnamesAreThoseOfPodsOfTheServicesDomain(t *testing.T) {
	in := func(subdomain string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Hostname, p.Spec.Subdomain = "first", subdomain }
	}
	got := endpointsOf(aService(), []*corev1.Pod{aPod(1, in("web")), aPod(2, in("other"))})[0].endpoints
	if ptr.Deref(got[0].Hostname, "") != "first" || got[1].Hostname != nil {
		t.Errorf("%+v", got)
	}
}

func TestPodsWithOtherPortsAreInOtherSlices(t *testing.T) {
	sidecar := func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways), Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}}}
	}
	c := planFor(aService(named), []*corev1.Pod{aPod(1, listens(8080)), aPod(2, listens(9090)), aPod(3), aPod(4, sidecar)}, nil)
	got := map[string][]string{}
	for _, s := range c.create {
		for _, e := range s.Endpoints {
			got[portsKey(s.Ports)] = append(got[portsKey(s.Ports)], e.TargetRef.Name)
		}
	}
	want := map[string][]string{"http TCP 8080 ": {"p001", "p004"}, "http TCP 9090 ": {"p002"}, "": {"p003"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestASliceSaysWhoseItIs(t *testing.T) {
	headless := aService(func(s *corev1.Service) {
		s.Spec.ClusterIP, s.Labels = corev1.ClusterIPNone, map[string]string{"tier": "front"}
	})
	got := planFor(headless, nil, nil).create[0]
	want := map[string]string{"tier": "front", "kubernetes.io/service-name": "web", "service.kubernetes.io/headless": "",
		"endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"}
	if diff := cmp.Diff(want, got.Labels); diff != "" || !metav1.IsControlledBy(got, headless) {
		t.Errorf("%+v, (-want +got):\n%s", got.OwnerReferences, diff)
	}
}

// store is what a server does with changes.
type store map[string]*discoveryv1.EndpointSlice

func (s store) apply(t interface{ Fatalf(string, ...any) }, c changes) {
	for _, x := range c.create {
		if s[x.Name] != nil {
			t.Fatalf("%s exists", x.Name)
		}
		x.UID = types.UID(x.Name)
		s[x.Name] = x
	}
	for _, x := range c.update {
		s[x.Name] = x
	}
	for _, x := range c.remove {
		delete(s, x.Name)
	}
}

func (s store) list() (all []*discoveryv1.EndpointSlice) {
	for _, x := range s {
		all = append(all, x)
	}
	return all
}

func TestPlansForAnyPods(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := store{}
		svc := aService(named)
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			var pods []*corev1.Pod
			for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(1, 250), 0, 250, rapid.ID).Draw(t, "pods") {
				pods = append(pods, aPod(n, listens(rapid.SampledFrom([]int32{8080, 8080, 9090}).Draw(t, "port"))))
			}
			before := s.list()
			c := planFor(svc, pods, before)
			s.apply(t, c)
			checkStored(t, s, svc, pods)
			if again := planFor(svc, pods, s.list()); len(again.create)+len(again.update)+len(again.remove) > 0 {
				t.Fatalf("the next plan changes something: %+v", again)
			}
		}
		s.apply(t, planFor(nil, nil, s.list()))
		if len(s) > 0 {
			t.Fatalf("%d slices are left without their Service", len(s))
		}
	})
}

// checkStored: each pod is in one slice, with its port, and no slice is too large, or empty without need.
func checkStored(t *rapid.T, s store, svc *corev1.Service, pods []*corev1.Pod) {
	found := map[types.UID]int32{}
	for _, x := range s {
		if len(x.Endpoints) > maxEndpoints || len(x.Endpoints) == 0 && (len(pods) > 0 || len(s) > 1) {
			t.Fatalf("slice %s has %d endpoints of %d pods", x.Name, len(x.Endpoints), len(pods))
		}
		for _, e := range x.Endpoints {
			if found[e.TargetRef.UID] != 0 {
				t.Fatalf("%s is there twice", e.TargetRef.Name)
			}
			found[e.TargetRef.UID] = *x.Ports[0].Port
		}
	}
	if len(found) != len(pods) {
		t.Fatalf("%d endpoints of %d pods", len(found), len(pods))
	}
	for _, p := range pods {
		if found[p.UID] != targetPort(&svc.Spec.Ports[0], p) {
			t.Fatalf("%s has port %d", p.Name, found[p.UID])
		}
	}
}

func TestOnePodMoreChangesOneSlice(t *testing.T) {
	s, svc := store{}, aService()
	var pods []*corev1.Pod
	for n := 2; n <= 250; n++ {
		pods = append(pods, aPod(n))
	}
	s.apply(t, planFor(svc, pods, nil))
	for sentence, c := range map[string][]*corev1.Pod{
		"one more, the first by name": append([]*corev1.Pod{aPod(1)}, pods...),
		"one less":                    pods[1:],
		"one that is not ready":       append([]*corev1.Pod{aPod(2, notReady)}, pods[1:]...),
	} {
		got := planFor(svc, c, s.list())
		if len(got.update) != 1 || len(got.create)+len(got.remove) > 0 {
			t.Errorf("%s: %d are updated, %d created, %d removed", sentence, len(got.update), len(got.create), len(got.remove))
		}
	}
}

func TestSlicesOfAnotherServiceOfTheNameGo(t *testing.T) {
	former := aService(func(s *corev1.Service) { s.UID = "former" })
	old := planFor(former, []*corev1.Pod{aPod(1)}, nil).create
	old[0].UID = "old"
	c := planFor(aService(), []*corev1.Pod{aPod(1)}, old)
	if !slices.Equal(c.remove, old) || len(c.create) != 1 || c.create[0].Name == old[0].Name {
		t.Errorf("%+v", c)
	}
	for sentence, svc := range map[string]*corev1.Service{
		"one without a selector": aService(func(s *corev1.Service) { s.UID, s.Spec.Selector = "former", nil }),
		"another name":           aService(func(s *corev1.Service) { s.UID, s.Spec.Type = "former", corev1.ServiceTypeExternalName }),
	} {
		if c := planFor(svc, nil, old); !slices.Equal(c.remove, old) || len(c.create) > 0 {
			t.Errorf("%s: %+v", sentence, c)
		}
	}
}
