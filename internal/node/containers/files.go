package containers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/runtime"
)

const (
	hostsFile    = "/etc/hosts"
	resolverFile = "/etc/resolv.conf"
)

// files returns the /etc/hostname, /etc/hosts and /etc/resolv.conf of a container that runs from an image. In the machine's
// network the last is the machine's, as for pods with hostNetwork in a cluster.
func (m *Maker) files(s Start) map[string]string {
	files := map[string]string{"/etc/hostname": hostname(s.Pod) + "\n", hostsFile: m.hosts(s)}
	if s.Network != nil {
		files[resolverFile] = m.resolverConfig(s.Pod)
	} else if text, err := os.ReadFile(resolverFile); err == nil {
		files[resolverFile] = string(text)
	}
	return files
}

// mountFiles shows a process files of its pod in the place of the machine's, where they differ.
func (m *Maker) mountFiles(c *runtime.Container, s Start) error {
	named := (s.Pod.Spec.Subdomain != "" || s.Network != nil) && m.isolation.CanMount
	if named || len(s.Pod.Spec.HostAliases) > 0 {
		if err := mountFile(c, s.Dir, hostsFile, m.hosts(s)); err != nil {
			return err
		}
	}
	if s.Network != nil && m.isolation.CanMount {
		return mountFile(c, s.Dir, resolverFile, m.resolverConfig(s.Pod))
	}
	return nil
}

// mountFile mounts a file in the pod's folder, unless the container mounts something there itself.
func mountFile(c *runtime.Container, dir, path, text string) error {
	if slices.ContainsFunc(c.Mounts, func(m runtime.Mount) bool { return m.ContainerPath == path }) {
		return nil
	}
	file := filepath.Join(dir, filepath.Base(path))
	c.Mounts = append(c.Mounts, runtime.Mount{HostPath: file, ContainerPath: path})
	if is, err := os.ReadFile(file); err == nil && string(is) == text {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644) //nolint:gosec // every user of the container reads it
}

// ownHosts is what every pod with an address of its own knows.
const ownHosts = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n"

// hosts returns the /etc/hosts of a pod: its names and its hostAliases, in the machine's network below what the machine's has.
func (m *Maker) hosts(s Start) string {
	known, ip := ownHosts, m.Env.Facts.IP
	if s.Network != nil {
		ip = s.Network.Address.String()
	} else {
		text, _ := os.ReadFile(hostsFile) // A machine may have none.
		known = string(text)
	}
	short, full := names(s.Pod)
	own := []string{ip, full}
	if short != full {
		own = append(own, short)
	}
	return known + "\n# The pod.\n" + strings.Join(own, "\t") + "\n" + hostAliases(s.Pod.Spec.HostAliases)
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
