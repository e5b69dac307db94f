package model_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	podregistry "github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/apiserver/registry/service"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/endpointslice"
	"github.com/stint-dev/stint/internal/podstatus"
	"github.com/stint-dev/stint/test/simulated"
	"github.com/stint-dev/stint/test/wrappers"
)

const namespace = "ns"

var names = []string{"web", "db"}

type world struct {
	*simulated.World
	services *simulated.Table[*corev1.Service]
	slices   *simulated.Table[*discoveryv1.EndpointSlice]
	pods     *simulated.Table[*corev1.Pod]
	// made is how many pods there were, written how often a slice was written.
	made, written int
}

func newWorld(sw *simulated.World) *world {
	// The address is given out beside the rules of the kind.
	services := service.Resource()
	services.Validate, services.ValidateUpdate = nil, nil
	w := &world{World: sw,
		services: simulated.NewTable[*corev1.Service](sw.Server, services),
		slices:   simulated.NewTable[*discoveryv1.EndpointSlice](sw.Server, service.Slice()),
		pods:     simulated.NewTable[*corev1.Pod](sw.Server, podregistry.Resource(podregistry.Options{})),
	}
	w.slices.Wrote = func(was, is *discoveryv1.EndpointSlice) {
		w.written++
		if was != nil && is != nil && was.AddressType != is.AddressType {
			w.Fail("the type of %s changes", is.Name)
		}
	}
	w.Describe = w.describe
	return w
}

type connection struct {
	services client.Resource[*corev1.Service]
	slices   client.Resource[*discoveryv1.EndpointSlice]
	pods     client.Resource[*corev1.Pod]
}

func (c connection) Services() client.Resource[*corev1.Service]                  { return c.services }
func (c connection) EndpointSlices() client.Resource[*discoveryv1.EndpointSlice] { return c.slices }
func (c connection) Pods() client.Resource[*corev1.Pod]                          { return c.pods }

func (w *world) start() {
	w.Start(func(p *simulated.Process) func(context.Context) error {
		return endpointslice.New(connection{simulated.Of(p, w.services), simulated.Of(p, w.slices), simulated.Of(p, w.pods)}).Run
	})
}

func (w *world) must(_ any, err error) {
	if err != nil {
		w.Fail("it is not valid: %v", err)
	}
}

func (w *world) createService(t *rapid.T) {
	name := rapid.SampledFrom(names).Draw(t, "name")
	if w.services.Find(namespace, name) != nil {
		t.Skip("it exists")
	}
	w.Logf("user creates Service %s", name)
	w.must(w.services.Create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": name}, Ports: []corev1.ServicePort{{Port: 80}}}}))
}

func (w *world) createPod(t *rapid.T) {
	if len(w.pods.All()) > 8 {
		t.Skip("there are enough")
	}
	w.made++
	name := fmt.Sprintf("p%d", w.made)
	app := rapid.SampledFrom(names).Draw(t, "app")
	w.Logf("user creates pod %s of %s", name, app)
	w.must(w.pods.Create(wrappers.MakePod(name).Namespace(namespace).Image("i").Label("app", app).Obj()))
}

func (w *world) drawPod(t *rapid.T) *corev1.Pod {
	all := w.pods.All()
	if len(all) == 0 {
		t.Skip("no pods")
	}
	return rapid.SampledFrom(all).Draw(t, "pod")
}

// nodeActs gives a pod an address, makes it ready or not, or ends it.
func (w *world) nodeActs(t *rapid.T) {
	p := w.drawPod(t)
	switch {
	case podstatus.IsTerminated(p):
		t.Skip("it has ended")
	case p.Status.PodIP == "":
		w.Logf("pod %s gets its address", p.Name)
		address := fmt.Sprintf("10.244.0.%d", w.made%250+2)
		w.pods.Change(p, func(p *corev1.Pod) { p.Status.Phase, p.Status.PodIP = corev1.PodRunning, address })
	case simulated.OneIn(t, 3, "ends"):
		w.Logf("pod %s ends", p.Name)
		w.pods.Change(p, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	default:
		ready := map[bool]corev1.ConditionStatus{true: corev1.ConditionFalse, false: corev1.ConditionTrue}[podstatus.IsReady(p)]
		w.Logf("pod %s is ready: %s", p.Name, ready)
		w.pods.Change(p, func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
		})
	}
}

func (w *world) deleteOne(t *rapid.T) {
	switch rapid.SampledFrom([]string{"service", "pod", "slice"}).Draw(t, "kind") {
	case "service":
		simulated.DeleteOne(w.World, t, w.services)
	case "pod":
		simulated.DeleteOne(w.World, t, w.pods)
	default:
		simulated.DeleteOne(w.World, t, w.slices)
	}
}

// userActs changes the selector of a Service, its type, the labels of a pod, or a slice.
func (w *world) userActs(t *rapid.T) {
	app := rapid.SampledFrom(names).Draw(t, "app")
	if simulated.OneIn(t, 2, "a pod") {
		p := w.drawPod(t)
		w.Logf("user makes pod %s one of %s", p.Name, app)
		w.pods.Change(p, func(p *corev1.Pod) { p.Labels = map[string]string{"app": app} })
		return
	}
	if simulated.OneIn(t, 3, "a slice") {
		all := w.slices.All()
		if len(all) == 0 {
			t.Skip("no slices")
		}
		s := rapid.SampledFrom(all).Draw(t, "slice")
		w.Logf("user empties %s", s.Name)
		w.slices.Change(s, func(s *discoveryv1.EndpointSlice) { s.Endpoints = nil })
		return
	}
	all := w.services.All()
	if len(all) == 0 {
		t.Skip("no Services")
	}
	svc := rapid.SampledFrom(all).Draw(t, "service")
	if simulated.OneIn(t, 3, "none") {
		w.Logf("user takes the selector from %s", svc.Name)
		w.services.Change(svc, func(s *corev1.Service) { s.Spec.Selector = nil })
		return
	}
	w.Logf("user has %s select %s", svc.Name, app)
	w.services.Change(svc, func(s *corev1.Service) { s.Spec.Selector = map[string]string{"app": app} })
}

// check compares the slices with what follows from the Services and the pods.
func (w *world) check() {
	want, got := map[string][]string{}, map[string][]string{}
	for _, svc := range w.services.All() {
		if len(svc.Spec.Selector) == 0 {
			continue
		}
		want[svc.Name] = []string{}
		for _, p := range w.pods.All() {
			if p.Labels["app"] == svc.Spec.Selector["app"] && p.Status.PodIP != "" && !podstatus.IsTerminated(p) {
				want[svc.Name] = append(want[svc.Name], fmt.Sprint(p.Name, " ", p.Status.PodIP, " ", podstatus.IsReady(p) && p.DeletionTimestamp == nil))
			}
		}
	}
	for _, s := range w.slices.All() {
		name := s.Labels[discoveryv1.LabelServiceName]
		if svc := w.services.Find(namespace, name); svc == nil || !metav1.IsControlledBy(s, svc) {
			w.Fail("%s is of a Service that is gone", s.Name)
		}
		if got[name] == nil {
			got[name] = []string{}
		}
		for _, e := range s.Endpoints {
			got[name] = append(got[name], fmt.Sprint(e.TargetRef.Name, " ", e.Addresses[0], " ", ptr.Deref(e.Conditions.Ready, false)))
		}
	}
	for _, all := range []map[string][]string{want, got} {
		for _, list := range all {
			slices.Sort(list)
		}
	}
	if !maps.EqualFunc(want, got, slices.Equal[[]string]) {
		w.Fail("endpoints %v, want %v", got, want)
	}
}

func (w *world) describe() string {
	var lines []string
	for _, s := range w.slices.All() {
		line := s.Name + " of " + s.Labels[discoveryv1.LabelServiceName] + ":"
		for _, e := range s.Endpoints {
			line += fmt.Sprintf(" %s %s", e.TargetRef.Name, e.Addresses[0])
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
