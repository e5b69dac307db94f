package endpointslice_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/endpointslice"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

func TestMain(m *testing.M) { apiservertest.Main(m) }

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestTheLifeOfAService(t *testing.T) {
	api := apiservertest.Start(t)
	c := api.Client()
	api.Control(endpointslice.New(c))
	endpoints := func(want ...string) {
		t.Helper()
		await.Until(t, "the slice has these endpoints", func() bool {
			var got []string
			there := false
			_, err := c.EndpointSlices().List(t.Context(), "default", labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: "web"}), func(s *discoveryv1.EndpointSlice) {
				there = true
				for _, e := range s.Endpoints {
					if *e.Conditions.Ready {
						got = append(got, e.Addresses[0])
					}
				}
			})
			slices.Sort(got)
			return err == nil && slices.Equal(got, want) && there
		})
	}
	svc := must[*corev1.Service](t)(c.Services().Create(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80}}}}))
	endpoints()
	pod := must[*corev1.Pod](t)(c.Pods().Create(t.Context(), wrappers.MakePod("p").Namespace("default").Image("i").Label("app", "web").Obj()))
	ready := func(p *corev1.Pod) {
		p.Status.PodIP, p.Status.Phase = "10.244.0.2", corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	pod = must[*corev1.Pod](t)(c.Pods().ModifyStatus(t.Context(), pod, ready))
	endpoints("10.244.0.2")
	pod = must[*corev1.Pod](t)(c.Pods().ModifyStatus(t.Context(), pod, func(p *corev1.Pod) { p.Status.Conditions = nil }))
	endpoints()
	must[*corev1.Pod](t)(c.Pods().ModifyStatus(t.Context(), pod, ready))
	endpoints("10.244.0.2")
	if err := c.Services().Delete(t.Context(), svc, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the slices are gone", func() bool {
		left := 0
		_, err := c.EndpointSlices().List(t.Context(), "default", labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: "web"}), func(*discoveryv1.EndpointSlice) { left++ })
		return err == nil && left == 0
	})
}
