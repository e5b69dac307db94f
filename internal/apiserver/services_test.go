package apiserver_test

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
)

func service(name string, change func(*corev1.ServiceSpec)) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.ServiceSpec{Selector: map[string]string{"app": name}, Ports: []corev1.ServicePort{{Port: 80}}}}
	if change != nil {
		change(&s.Spec)
	}
	return s
}

func nodePorts(s *corev1.ServiceSpec) { s.Type = corev1.ServiceTypeNodePort }

func TestServicesThatAreCreatedAtOnceGetAddressesAndPortsOfTheirOwn(t *testing.T) {
	services := apiservertest.Start(t).Clientset().CoreV1().Services("default")
	var mu sync.Mutex
	addresses, ports := map[string]string{}, map[int32]string{}
	take := func(s *corev1.Service) {
		mu.Lock()
		defer mu.Unlock()
		if other := addresses[s.Spec.ClusterIP]; other != "" {
			t.Errorf("%s and %s have the address %s", s.Name, other, s.Spec.ClusterIP)
		}
		addresses[s.Spec.ClusterIP] = s.Name
		if other := ports[s.Spec.Ports[0].NodePort]; other != "" {
			t.Errorf("%s and %s have the port %d", s.Name, other, s.Spec.Ports[0].NodePort)
		}
		ports[s.Spec.Ports[0].NodePort] = s.Name
	}
	var creating sync.WaitGroup
	for i := range 50 {
		creating.Go(func() {
			s, err := services.Create(t.Context(), service(fmt.Sprint("s", i), nodePorts), metav1.CreateOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			take(s)
		})
	}
	creating.Wait()
}

// Of those that ask for the same address at once, one gets it.
func TestOneOfManyServicesGetsAnAddressThatAllAskFor(t *testing.T) {
	services := apiservertest.Start(t).Clientset().CoreV1().Services("default")
	results := make(chan error)
	for i := range 10 {
		go func() {
			_, err := services.Create(t.Context(), service(fmt.Sprint("s", i), func(s *corev1.ServiceSpec) { s.ClusterIP = "10.96.3.4" }), metav1.CreateOptions{})
			results <- err
		}()
	}
	got := 0
	for range 10 {
		switch err := <-results; {
		case err == nil:
			got++
		case !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "is the address of Service default/s"):
			t.Error(err)
		}
	}
	if got != 1 {
		t.Errorf("%d Services have got the address", got)
	}
}

func TestAnAddressIsFreeOnceItsServiceIsGone(t *testing.T) {
	services := apiservertest.Start(t).Clientset().CoreV1().Services("default")
	first := must[*corev1.Service](t)(services.Create(t.Context(), service("first", nodePorts), metav1.CreateOptions{}))
	second := service("second", func(s *corev1.ServiceSpec) {
		nodePorts(s)
		s.ClusterIP, s.Ports[0].NodePort = first.Spec.ClusterIP, first.Spec.Ports[0].NodePort
	})
	_, err := services.Create(t.Context(), second, metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.clusterIPs") || !strings.Contains(err.Error(), "spec.ports[0].nodePort") {
		t.Errorf("both are taken: %v", err)
	}
	// A Service that becomes another name gives its address away.
	must[*corev1.Service](t)(services.Patch(t.Context(), "first", types.MergePatchType, []byte(`{"spec":{"type":"ExternalName","externalName":"example.com"}}`), metav1.PatchOptions{}))
	must[*corev1.Service](t)(services.Create(t.Context(), second, metav1.CreateOptions{}))
	if err := services.Delete(t.Context(), "second", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	second.Name = "third"
	must[*corev1.Service](t)(services.Create(t.Context(), second, metav1.CreateOptions{}))
	again := must[*corev1.Service](t)(services.Patch(t.Context(), "first", types.MergePatchType, []byte(`{"spec":{"type":"ClusterIP"}}`), metav1.PatchOptions{}))
	if again.Spec.ClusterIP == "" || again.Spec.ClusterIP == first.Spec.ClusterIP {
		t.Errorf("the address is %q", again.Spec.ClusterIP)
	}
}

func TestServicesKeepTheirAddressesOverARestartAndAnUpdate(t *testing.T) {
	dir := t.TempDir()
	const asked = "10.77.0.0/16"
	choose := func(c *apiserver.Config) {
		c.ServiceRange = func() netip.Prefix { return netip.MustParsePrefix(asked) }
	}
	s := apiservertest.Start(t, apiservertest.In(dir), choose)
	before := must[*corev1.Service](t)(s.Clientset().CoreV1().Services("default").Create(t.Context(), service("web", nodePorts), metav1.CreateOptions{}))
	if !netip.MustParsePrefix(asked).Contains(netip.MustParseAddr(before.Spec.ClusterIP)) {
		t.Errorf("%s is not in %s", before.Spec.ClusterIP, asked)
	}
	s.Stop()
	// The next one would choose another range.
	services := apiservertest.Start(t, apiservertest.In(dir)).Clientset().CoreV1().Services("default")
	replaced := service("web", nodePorts)
	replaced.Spec.Ports[0].Name = "http"
	after := must[*corev1.Service](t)(services.Update(t.Context(), replaced, metav1.UpdateOptions{}))
	if after.Spec.ClusterIP != before.Spec.ClusterIP || after.Spec.Ports[0].NodePort != before.Spec.Ports[0].NodePort {
		t.Errorf("before %+v, after %+v", before.Spec, after.Spec)
	}
	another := must[*corev1.Service](t)(services.Create(t.Context(), service("another", nil), metav1.CreateOptions{}))
	if !netip.MustParsePrefix(asked).Contains(netip.MustParseAddr(another.Spec.ClusterIP)) {
		t.Errorf("%s is not in %s", another.Spec.ClusterIP, asked)
	}
}

func TestTheServiceKubernetesIsAlwaysThere(t *testing.T) {
	dir := t.TempDir()
	s := apiservertest.Start(t, apiservertest.In(dir), apiservertest.Listening(t))
	services := s.Clientset().CoreV1().Services("default")
	before := must[*corev1.Service](t)(services.Get(t.Context(), "kubernetes", metav1.GetOptions{}))
	if before.Spec.ClusterIP != "10.96.0.1" || before.Spec.Ports[0].Port != 443 || before.Spec.Ports[0].Name != "https" || before.Spec.Ports[0].TargetPort.IntValue() == 443 {
		t.Errorf("made: %+v", before.Spec)
	}
	if err := services.Delete(t.Context(), "kubernetes", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	after := must[*corev1.Service](t)(services.Get(t.Context(), "kubernetes", metav1.GetOptions{}))
	if after.UID == before.UID || after.Spec.ClusterIP != before.Spec.ClusterIP {
		t.Errorf("made again: %+v", after)
	}
	s.Stop()
	s = apiservertest.Start(t, apiservertest.In(dir), apiservertest.Listening(t))
	services = s.Clientset().CoreV1().Services("default")
	moved := must[*corev1.Service](t)(services.Get(t.Context(), "kubernetes", metav1.GetOptions{}))
	if moved.UID != after.UID || moved.Spec.ClusterIP != after.Spec.ClusterIP || moved.Spec.Ports[0].TargetPort == after.Spec.Ports[0].TargetPort {
		t.Errorf("after a start on another port: %+v", moved)
	}
	must[*corev1.Service](t)(services.Patch(t.Context(), "kubernetes", types.MergePatchType, []byte(`{"spec":{"type":"ExternalName","externalName":"example.com"}}`), metav1.PatchOptions{}))
	s.Stop()
	services = apiservertest.Start(t, apiservertest.In(dir)).Clientset().CoreV1().Services("default")
	if repaired := must[*corev1.Service](t)(services.Get(t.Context(), "kubernetes", metav1.GetOptions{})); repaired.Spec.ClusterIP != "10.96.0.1" {
		t.Errorf("after a user has taken its address away: %+v", repaired)
	}
}

func TestTheEndpointSliceOfTheServiceKubernetesHasTheServersAddress(t *testing.T) {
	s := apiservertest.Start(t, apiservertest.Listening(t))
	slices := s.Clientset().DiscoveryV1().EndpointSlices("default")
	get := func() *discoveryv1.EndpointSlice {
		return must[*discoveryv1.EndpointSlice](t)(slices.Get(t.Context(), "kubernetes", metav1.GetOptions{}))
	}
	for _, each := range []string{"10.244.0.1", "10.243.0.1"} {
		if err := s.PublishAddress(t.Context(), netip.MustParseAddr(each)); err != nil {
			t.Fatal(err)
		}
		if slice := get(); slice.Endpoints[0].Addresses[0] != each || *slice.Ports[0].Port == 443 {
			t.Errorf("%+v", slice)
		}
	}
	version := get().ResourceVersion
	if err := s.PublishAddress(t.Context(), netip.MustParseAddr("10.243.0.1")); err != nil || get().ResourceVersion != version {
		t.Errorf("written again: %v", err)
	}
	if err := s.PublishAddress(t.Context(), netip.Addr{}); err != nil || len(get().Endpoints) > 0 {
		t.Errorf("%v, %+v", err, get())
	}
}

func TestTheServerKnowsWhichNamespacesHaveServices(t *testing.T) {
	dir := t.TempDir()
	s := apiservertest.Start(t, apiservertest.In(dir))
	is := func(want bool) {
		t.Helper()
		if got := s.HasServices("default"); got != want {
			t.Errorf("it has Services: %t", got)
		}
	}
	services := s.Clientset().CoreV1().Services("default")
	is(false)
	must[*corev1.Service](t)(services.Create(t.Context(), service("web", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}))
	is(false)
	must[*corev1.Service](t)(services.Create(t.Context(), service("web", nil), metav1.CreateOptions{}))
	is(true)
	if err := services.Delete(t.Context(), "kubernetes", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	is(true)
	s.Stop()
	s = apiservertest.Start(t, apiservertest.In(dir))
	is(true)
	if err := s.Clientset().CoreV1().Services("default").Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	is(false)
}
