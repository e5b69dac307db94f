package containers

import (
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// hostname returns spec.hostname, or else the pod's name cut to the length that a host name may have.
func hostname(api *corev1.Pod) string {
	if api.Spec.Hostname != "" {
		return api.Spec.Hostname
	}
	if len(api.Name) <= 63 {
		return api.Name
	}
	return strings.TrimRight(api.Name[:63], "-.")
}

const (
	hostsFile    = "/etc/hosts"
	resolverFile = "/etc/resolv.conf"
)

// nameFiles returns a container's /etc/hostname, /etc/hosts and /etc/resolv.conf. In the machine's network the last two are the
// machine's, as for pods with hostNetwork in a cluster.
func (m *Maker) nameFiles(s Start) map[string]string {
	api := s.Pod
	files := map[string]string{"/etc/hostname": hostname(api) + "\n"}
	if s.Network != nil {
		files[hostsFile] = hostsOf(api, s.Network.Address) + hostAliases(api.Spec.HostAliases)
		files[resolverFile] = m.resolverConfig(api)
		return files
	}
	for _, path := range []string{hostsFile, resolverFile} {
		text, err := os.ReadFile(path)
		if err == nil {
			files[path] = string(text)
		}
	}
	files[hostsFile] += hostAliases(api.Spec.HostAliases)
	return files
}

// hostAliases returns the lines of /etc/hosts for spec.hostAliases.
func hostAliases(aliases []corev1.HostAlias) string {
	var lines strings.Builder
	for _, a := range aliases {
		fmt.Fprintf(&lines, "%s\t%s\n", a.IP, strings.Join(a.Hostnames, "\t"))
	}
	if lines.Len() == 0 {
		return ""
	}
	return "\n# Entries added by HostAliases.\n" + lines.String()
}
