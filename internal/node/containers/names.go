package containers

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/services"
)

const (
	// maxHostname is the longest host name that Kubernetes gives a pod, maxFQDN the longest that the kernel takes.
	maxHostname = 63
	maxFQDN     = 64
)

// names returns the names of a pod: spec.hostname, or else the pod's name; and the same with its domain if it has a
// subdomain. spec.hostnameOverride stands for all of it.
func names(api *corev1.Pod) (short, full string) {
	short = cmp.Or(ptr.Deref(api.Spec.HostnameOverride, ""), api.Spec.Hostname, api.Name)
	if len(short) > maxHostname {
		short = strings.TrimRight(short[:maxHostname], "-.")
	}
	if api.Spec.HostnameOverride != nil || api.Spec.Subdomain == "" {
		return short, short
	}
	return short, strings.Join([]string{short, api.Spec.Subdomain, api.Namespace, "svc", services.Domain}, ".")
}

// hostname returns the host name of a pod's containers.
func hostname(api *corev1.Pod) string {
	short, full := names(api)
	if ptr.Deref(api.Spec.SetHostnameAsFQDN, false) {
		return full
	}
	return short
}

// checkHostname returns why a pod cannot have its host name.
func checkHostname(api *corev1.Pod) error {
	if name := hostname(api); len(name) > maxFQDN {
		return fmt.Errorf("the FQDN %s of the pod is too long for a host name (%d characters, at most %d): "+
			"shorten hostname or subdomain, or remove setHostnameAsFQDN", name, len(name), maxFQDN)
	}
	return nil
}
