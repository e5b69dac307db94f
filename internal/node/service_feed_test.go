package node

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// fedRuntime takes Services, and answers each call with the next of the answers.
type fedRuntime struct {
	runtime.Runtime
	answers []fedAnswer
	got     []runtime.Services
}

type fedAnswer struct {
	taken []uint16
	err   error
}

func (r *fedRuntime) SetServices(_ context.Context, s runtime.Services) ([]uint16, error) {
	answer := fedAnswer{}
	if len(r.got) < len(r.answers) {
		answer = r.answers[len(r.got)]
	}
	r.got = append(r.got, s)
	return answer.taken, answer.err
}

func failures(answers []fedAnswer) (n int) {
	for _, a := range answers {
		if a.err != nil {
			n++
		}
	}
	return n
}

func TestTheRuntimeIsToldOfServices(t *testing.T) {
	taken := fedAnswer{taken: []uint16{30080}}
	for sentence, c := range map[string]struct {
		answers []fedAnswer
		calls   int
		events  int
	}{
		"once":                             {nil, 1, 0},
		"again after an error":             {[]fedAnswer{{err: errors.New("no host")}}, 2, 0},
		"with an event if a port is taken": {[]fedAnswer{taken}, 1, 1},
		"which is not repeated":            {[]fedAnswer{taken, taken, {err: errors.New("no host")}, taken}, 4, 1},
		"unless it was free":               {[]fedAnswer{taken, {taken: []uint16{30081}}, taken}, 3, 2},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fed, events := &fedRuntime{answers: c.answers}, record.NewFakeRecorder(10)
				f := &serviceFeed{
					runtime: fed, within: netip.MustParsePrefix("10.96.0.0/16"), changed: make(chan struct{}, 1), recorder: events,
					services: cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Service{}, 0, nil),
					slices:   cache.NewSharedIndexInformer(&cache.ListWatch{}, &discoveryv1.EndpointSlice{}, 0, nil),
				}
				web := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"}, Spec: corev1.ServiceSpec{
					Type: corev1.ServiceTypeNodePort, ClusterIP: "10.96.0.7",
					Ports: []corev1.ServicePort{{Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 30080}},
				}}
				if err := f.services.GetStore().Add(web); err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithTimeout(t.Context(), 60*retryAfter)
				defer stop()
				go func() {
					for range max(c.calls-failures(c.answers), 1) {
						f.handler().OnAdd(web, true)
						synctest.Wait()
					}
				}()
				f.run(ctx)
				if len(fed.got) != c.calls {
					t.Errorf("told %d times, want %d", len(fed.got), c.calls)
				}
				for _, got := range fed.got {
					if !slices.ContainsFunc(got.Ports, func(p runtime.ServicePort) bool { return p.NodePort == 30080 }) {
						t.Errorf("told %+v", got)
					}
				}
				if len(events.Events) != c.events {
					t.Errorf("%d events, want %d", len(events.Events), c.events)
				}
				for range c.events {
					if e := <-events.Events; !strings.Contains(e, "NodePortTaken") || !strings.Contains(e, "30080") {
						t.Error(e)
					}
				}
			})
		})
	}
}
