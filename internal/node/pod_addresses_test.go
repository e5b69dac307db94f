package node_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/podstatus"
)

func withNetworks(c *node.Config) { c.HasServices = func(string) bool { return true } }

// The status alone remembers the address, so a node that is killed gives it to no other pod.
func TestTheAddressOfAPodIsStoredBeforeItStarts(t *testing.T) {
	rt := newScripted()
	rt.info.PodRange = netip.MustParsePrefix("10.244.0.0/29")
	h := newTestNode(t, rt)
	var given, stored string
	rt.starting = func(c runtime.Container) {
		given = c.Network.Address.String()
		if pod, err := h.client.Pods().Get(context.Background(), c.PodNamespace, c.PodName); err == nil {
			stored = pod.Status.PodIP
		}
	}
	h.startNode(withNetworks)
	h.until(h.create(build("one", []string{"exit", "0"}, nil)), "the pod succeeds", inPhase(corev1.PodSucceeded))
	if given == "" || stored != given {
		t.Errorf("the stored address was %q when the container started with %q", stored, given)
	}
}

// More pods than there are addresses run one after the other, as each leaves its address to a later one.
func TestMorePodsRunThanThereAreAddresses(t *testing.T) {
	rt := newScripted()
	rt.info.PodRange = netip.MustParsePrefix("10.244.0.0/29")
	h := newTestNode(t, rt)
	h.startNode(withNetworks)
	for i := range 40 {
		pod := h.create(build(fmt.Sprint("pod-", i), []string{"exit", fmt.Sprint(i % 2)}, func(p *corev1.Pod) {
			p.Spec.RestartPolicy = corev1.RestartPolicyNever
		}))
		ended := h.until(pod, "has ended", func(p *corev1.Pod) bool {
			select {
			case event := <-h.events.Events:
				if strings.Contains(event, "FailedCreatePodSandBox") {
					t.Fatal(event)
				}
			default:
			}
			return podstatus.IsTerminal(p.Status.Phase)
		})
		if addr, err := netip.ParseAddr(ended.Status.PodIP); err != nil || !rt.info.PodRange.Contains(addr) {
			t.Fatalf("%s has the address %q", ended.Name, ended.Status.PodIP)
		}
		h.untilForgotten(rt)
	}
}
