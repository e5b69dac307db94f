package node

import (
	"net/netip"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/network"
)

// podNetworks decides which pods get a network of their own, and gives out their addresses.
type podNetworks struct {
	// pods is the range of the addresses. It is not valid where pods cannot have networks.
	pods netip.Prefix
	// hasServices reports whether a namespace has Services.
	hasServices func(namespace string) bool

	mu   sync.Mutex
	pool *network.Pool
}

func newPodNetworks(pods netip.Prefix, hasServices func(string) bool) *podNetworks {
	n := &podNetworks{pods: pods, hasServices: hasServices}
	if pods.IsValid() {
		n.pool = network.NewPool(pods)
	}
	return n
}

// wants reports whether a pod that has not started is to get a network: one that has names for others, or finds others by theirs.
func (n *podNetworks) wants(api *corev1.Pod) bool {
	return n.pods.IsValid() && n.hasServices != nil && !api.Spec.HostNetwork && (api.Spec.Subdomain != "" || n.hasServices(api.Namespace))
}

// has reports whether a pod's status shows that it has a network.
func (n *podNetworks) has(api *corev1.Pod) bool {
	addr, err := netip.ParseAddr(api.Status.PodIP)
	return err == nil && n.pods.Contains(addr)
}

// keep has a pod of an earlier run keep its address.
func (n *podNetworks) keep(api *corev1.Pod) {
	if !n.has(api) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pool.Keep(api.UID, netip.MustParseAddr(api.Status.PodIP))
}

// addressFor returns the address of a pod that is about to start, not valid for one that uses the machine's network.
func (n *podNetworks) addressFor(api *corev1.Pod, started bool) (netip.Addr, error) {
	if !n.has(api) && (started || api.Status.PodIP != "" || !n.wants(api)) {
		return netip.Addr{}, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.pool.Take(api.UID)
}

// release frees the address of a pod whose network has ended.
func (n *podNetworks) release(pod types.UID) {
	if n.pods.IsValid() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.pool.Release(pod)
	}
}
