package containers

import (
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// hostname is the pod's own name on the network, cut to what a host name may be.
func hostname(api *corev1.Pod) string {
	if api.Spec.Hostname != "" {
		return api.Spec.Hostname
	}
	if len(api.Name) <= 63 {
		return api.Name
	}
	return strings.TrimRight(api.Name[:63], "-.")
}

const hostsFile = "/etc/hosts"

// nameFiles are the files that tell a container its name and how to find others. Its network is the machine's, and so is
// what these hold, as for pods of a cluster with hostNetwork.
func nameFiles(api *corev1.Pod) map[string]string {
	files := map[string]string{"/etc/hostname": hostname(api) + "\n"}
	for _, path := range []string{hostsFile, "/etc/resolv.conf"} {
		text, err := os.ReadFile(path)
		if err == nil {
			files[path] = string(text)
		}
	}
	files[hostsFile] += hostAliases(api.Spec.HostAliases)
	return files
}

// hostAliases are the lines of a hosts file for the names that the pod adds.
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
