package endpointslice

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// maxEndpoints is how many endpoints one slice has at most, as in Kubernetes.
const maxEndpoints = 100

// manager is the value of the label by which slices of this controller are told from those that users write.
const manager = "endpointslice-controller.k8s.io"

// changes are what is to be written: new slices, slices with other content, and slices that go.
type changes struct {
	create, update, remove []*discoveryv1.EndpointSlice
}

// planFor plans the slices of a Service, nil if it is gone, from its pods and the slices that exist. Slices of a former Service of
// the same name go.
func planFor(svc *corev1.Service, pods []*corev1.Pod, existing []*discoveryv1.EndpointSlice) changes {
	var c changes
	var own []*discoveryv1.EndpointSlice
	for _, s := range existing {
		if svc != nil && hasEndpoints(svc) && metav1.IsControlledBy(s, svc) && s.AddressType == discoveryv1.AddressTypeIPv4 {
			own = append(own, s)
		} else {
			c.remove = append(c.remove, s)
		}
	}
	if svc == nil || !hasEndpoints(svc) {
		return c
	}
	slices.SortFunc(own, func(a, b *discoveryv1.EndpointSlice) int { return cmp.Compare(a.Name, b.Name) })
	p := &planner{changes: c, svc: svc, free: own, taken: map[string]bool{}}
	for _, s := range existing {
		p.taken[s.Name] = true
	}
	groups := endpointsOf(svc, pods)
	if len(groups) == 0 {
		groups = []group{{}} // One slice without endpoints says that there are none.
	}
	for _, g := range groups {
		p.place(g)
	}
	p.remove = append(p.remove, p.free...)
	return p.changes
}

// hasEndpoints reports whether the endpoints of a Service follow from pods.
func hasEndpoints(svc *corev1.Service) bool {
	return len(svc.Spec.Selector) > 0 && svc.Spec.Type != corev1.ServiceTypeExternalName
}

// planner places endpoints in slices.
type planner struct {
	changes
	svc *corev1.Service
	// free are the existing slices that no group has taken yet.
	free []*discoveryv1.EndpointSlice
	// taken are the names that slices have.
	taken map[string]bool
	made  int
}

// place keeps the endpoints of a group where they are, and puts new ones where there is room. Slices that become empty go, but
// one of a group without endpoints.
func (p *planner) place(g group) {
	left := map[types.UID]discoveryv1.Endpoint{}
	for _, e := range g.endpoints {
		left[e.TargetRef.UID] = e
	}
	kept := map[*discoveryv1.EndpointSlice][]discoveryv1.Endpoint{}
	var mine []*discoveryv1.EndpointSlice
	for _, s := range p.free {
		if portsKey(s.Ports) != portsKey(g.ports) {
			continue
		}
		mine = append(mine, s)
		for _, e := range s.Endpoints {
			if now, is := take(left, e); is {
				kept[s] = append(kept[s], now)
			}
		}
	}
	rest := slices.SortedFunc(maps.Values(left), func(a, b discoveryv1.Endpoint) int { return cmp.Compare(a.TargetRef.Name, b.TargetRef.Name) })
	for _, s := range mine {
		n := min(len(rest), max(0, maxEndpoints-len(kept[s])))
		content := append(kept[s], rest[:n]...)
		rest = rest[n:]
		if len(content) > 0 || len(g.endpoints) == 0 && s == mine[0] {
			p.keep(s, g.ports, content)
		}
	}
	for len(rest) > 0 || len(g.endpoints) == 0 && len(mine) == 0 {
		n := min(len(rest), maxEndpoints)
		p.create = append(p.create, p.newSlice(g.ports, rest[:n]))
		if rest = rest[n:]; len(rest) == 0 {
			break
		}
	}
}

// take removes the pod of an endpoint from those that are left, and returns its endpoint as it is now.
func take(left map[types.UID]discoveryv1.Endpoint, e discoveryv1.Endpoint) (now discoveryv1.Endpoint, is bool) {
	if e.TargetRef == nil {
		return now, false
	}
	now, is = left[e.TargetRef.UID]
	delete(left, e.TargetRef.UID)
	return now, is
}

// keep keeps a slice, with this content.
func (p *planner) keep(s *discoveryv1.EndpointSlice, ports []discoveryv1.EndpointPort, endpoints []discoveryv1.Endpoint) {
	p.free = slices.DeleteFunc(slices.Clone(p.free), func(f *discoveryv1.EndpointSlice) bool { return f == s })
	labels := labelsOf(p.svc)
	if apiequality.Semantic.DeepEqual(s.Endpoints, endpoints) && apiequality.Semantic.DeepEqual(s.Ports, ports) && maps.Equal(s.Labels, labels) {
		return
	}
	changed := s.DeepCopy()
	changed.Endpoints, changed.Ports, changed.Labels = endpoints, ports, labels
	p.update = append(p.update, changed)
}

func (p *planner) newSlice(ports []discoveryv1.EndpointPort, endpoints []discoveryv1.Endpoint) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.svc.Namespace, Name: p.freeName(), Labels: labelsOf(p.svc),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(p.svc, corev1.SchemeGroupVersion.WithKind("Service"))},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   endpoints,
		Ports:       ports,
	}
}

// freeName returns the first name of a slice of the Service that none has.
func (p *planner) freeName() string {
	for ; ; p.made++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", p.svc.UID, p.made))
		name := p.svc.Name + "-" + hex.EncodeToString(sum[:4])
		if !p.taken[name] {
			p.taken[name] = true
			return name
		}
	}
}

// labelsOf returns the labels of the slices of a Service: those that it has itself, and those that say whose they are.
func labelsOf(svc *corev1.Service) map[string]string {
	labels := maps.Clone(svc.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	delete(labels, corev1.IsHeadlessService)
	if svc.Spec.ClusterIP == corev1.ClusterIPNone {
		labels[corev1.IsHeadlessService] = ""
	}
	labels[discoveryv1.LabelServiceName] = svc.Name
	labels[discoveryv1.LabelManagedBy] = manager
	return labels
}
