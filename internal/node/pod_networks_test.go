package node

import (
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestWhichPodsGetANetwork(t *testing.T) {
	pods := netip.MustParsePrefix("10.244.0.0/16")
	served := func(namespace string) bool { return namespace == "served" }
	for sentence, c := range map[string]struct {
		within  netip.Prefix
		change  func(*corev1.Pod)
		started bool
		want    string
	}{
		"one beside a Service":               {pods, func(*corev1.Pod) {}, false, "10.244.0.2"},
		"none elsewhere":                     {pods, func(p *corev1.Pod) { p.Namespace = "other" }, false, ""},
		"one with a subdomain":               {pods, func(p *corev1.Pod) { p.Namespace, p.Spec.Subdomain = "other", "queue" }, false, "10.244.0.2"},
		"none that asks for the machine's":   {pods, func(p *corev1.Pod) { p.Spec.HostNetwork = true }, false, ""},
		"none that has started without":      {pods, func(*corev1.Pod) {}, true, ""},
		"none whose status shows another":    {pods, func(p *corev1.Pod) { p.Status.PodIP = "192.0.2.1" }, false, ""},
		"one whose status shows it":          {pods, func(p *corev1.Pod) { p.Namespace, p.Status.PodIP = "other", "10.244.0.7" }, true, "10.244.0.7"},
		"none where there cannot be any":     {netip.Prefix{}, func(*corev1.Pod) {}, false, ""},
		"none with a subdomain either there": {netip.Prefix{}, func(p *corev1.Pod) { p.Spec.Subdomain = "queue" }, false, ""},
	} {
		n := newPodNetworks(c.within, served)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "served", Name: "p", UID: "p"}}
		c.change(pod)
		n.keep(pod)
		addr, err := n.addressFor(pod, c.started)
		if err != nil || addr.IsValid() != (c.want != "") || addr.IsValid() && addr.String() != c.want {
			t.Errorf("%s: %s, %v, want %q", sentence, addr, err, c.want)
		}
	}
}

func TestAnAddressIsFreeWhenItsPodIsCleanedUp(t *testing.T) {
	n := newPodNetworks(netip.MustParsePrefix("10.244.0.0/30"), func(string) bool { return true })
	pod := func(name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)}}
	}
	if _, err := n.addressFor(pod("a"), false); err != nil {
		t.Fatal(err)
	}
	if _, err := n.addressFor(pod("b"), false); err == nil {
		t.Error("two pods have the only address")
	}
	n.release("a")
	if _, err := n.addressFor(pod("b"), false); err != nil {
		t.Error(err)
	}
}
