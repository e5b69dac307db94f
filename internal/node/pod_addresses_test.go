package node_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/podstatus"
)

// More pods than there are addresses run one after the other, as each leaves its address to a later one.
func TestMorePodsRunThanThereAreAddresses(t *testing.T) {
	rt := newScripted()
	rt.info.PodRange = netip.MustParsePrefix("10.244.0.0/29")
	h := newTestNode(t, rt)
	h.startNode(func(c *node.Config) { c.HasServices = func(string) bool { return true } })
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
