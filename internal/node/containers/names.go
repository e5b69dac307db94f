package containers

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/datadir"
	"github.com/stint-dev/stint/internal/node/runtime"
)

const (
	// maxHostname is the longest host name that Kubernetes gives a pod, maxFQDN the longest that the kernel takes.
	maxHostname = 63
	maxFQDN     = 64
	// clusterDomain ends the full names of pods.
	clusterDomain = "cluster.local"
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
	return short, strings.Join([]string{short, api.Spec.Subdomain, api.Namespace, "svc", clusterDomain}, ".")
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

const hostsFile = "/etc/hosts"

// nameFiles returns a container's /etc/hostname, /etc/hosts and /etc/resolv.conf. Containers use the machine's network,
// so the last two are the machine's, as for pods with hostNetwork in a cluster.
func nameFiles(api *corev1.Pod, ip string) map[string]string {
	files := map[string]string{"/etc/hostname": hostname(api) + "\n", hostsFile: hosts(api, ip)}
	if text, err := os.ReadFile("/etc/resolv.conf"); err == nil {
		files["/etc/resolv.conf"] = string(text)
	}
	return files
}

// hosts returns the machine's /etc/hosts with the pod's names and its hostAliases.
func hosts(api *corev1.Pod, ip string) string {
	text, err := os.ReadFile(hostsFile)
	if err != nil {
		text = nil
	}
	short, full := names(api)
	own := []string{ip, full}
	if short != full {
		own = append(own, short)
	}
	return string(text) + "\n# The pod.\n" + strings.Join(own, "\t") + "\n" + hostAliases(api.Spec.HostAliases)
}

// mountHosts shows a process a file of its pod in the place of the machine's /etc/hosts if the pod has a subdomain or
// hostAliases, unless it mounts something there itself.
func (m *Maker) mountHosts(c *runtime.Container, s Start) error {
	needs := len(s.Pod.Spec.HostAliases) > 0 || s.Pod.Spec.Subdomain != "" && m.isolation.CanMount
	own := slices.ContainsFunc(c.Mounts, func(m runtime.Mount) bool { return m.ContainerPath == hostsFile })
	if !needs || own {
		return nil
	}
	if _, err := os.Stat(s.HostsFile); err != nil {
		if err := os.MkdirAll(filepath.Dir(s.HostsFile), 0o700); err != nil {
			return err
		}
		if err := datadir.WriteFile(s.HostsFile, []byte(hosts(s.Pod, m.Env.Facts.IP)), 0o644); err != nil {
			return err
		}
	}
	c.Mounts = append(c.Mounts, runtime.Mount{HostPath: s.HostsFile, ContainerPath: hostsFile})
	return nil
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
