package containers

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/network"
	"github.com/stint-dev/stint/internal/node/services"
)

// resolverConfig returns the /etc/resolv.conf of a pod with a network. The gateway answers for the names of Services, and passes
// other questions on to the machine's servers.
func (m *Maker) resolverConfig(api *corev1.Pod) string {
	var servers, search, options []string
	if api.Spec.DNSPolicy != corev1.DNSNone {
		servers = []string{network.Gateway(m.isolation.PodRange).String()}
	}
	if policy := api.Spec.DNSPolicy; policy != corev1.DNSNone && policy != corev1.DNSDefault {
		search = []string{api.Namespace + ".svc." + services.Domain, "svc." + services.Domain, services.Domain}
		options = []string{"ndots:5"}
	}
	if c := api.Spec.DNSConfig; c != nil {
		servers, search = append(servers, c.Nameservers...), append(search, c.Searches...)
		for _, o := range c.Options {
			option := o.Name
			if o.Value != nil {
				option += ":" + *o.Value
			}
			options = append(options, option)
		}
	}
	var text strings.Builder
	for _, server := range servers {
		fmt.Fprintf(&text, "nameserver %s\n", server)
	}
	if len(search) > 0 {
		fmt.Fprintf(&text, "search %s\n", strings.Join(search, " "))
	}
	if len(options) > 0 {
		fmt.Fprintf(&text, "options %s\n", strings.Join(options, " "))
	}
	return text.String()
}
