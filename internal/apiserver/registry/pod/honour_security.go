package pod

import (
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

const (
	cannotSetUser = "processes run as the user who started the server and cannot switch to another user: remove it, or start the server as root"
	runsLinux     = "this node runs linux: remove it"
	noLabels      = "containers get no SELinux labels here: remove it"
	noProfiles    = "the process runtime loads no profiles: remove it"
	noSeccomp     = "has no effect: the process runtime does not filter system calls"
	noAppArmor    = "has no effect: the process runtime does not use AppArmor"
)

// securityRules are the rules for a container's security context. Fields that would restrict a plain process are ignored
// with a warning, because the process is a program of the machine anyway. Fields that would give it more rights or another
// identity are refused.
var securityRules = []rule[security]{
	{"runAsUser", func(c security) bool { return isOther(c.RunAsUser, os.Getuid()) }, withUsers, refuse, cannotSetUser},
	{"runAsGroup", func(c security) bool { return isOther(c.RunAsGroup, os.Getgid()) }, withUsers, refuse, cannotSetUser},
	// A server that can set users runs as root, and so do its processes unless runAsUser is set.
	{"runAsNonRoot", func(c security) bool {
		user := ptr.Deref(c.RunAsUser, ptr.Deref(c.userOfPod, 0))
		return ptr.Deref(c.RunAsNonRoot, false) && user == 0
	}, unlessRoot, refuse, "the server runs as root and so would the container: set runAsUser to a user who is not root"},
	{"privileged", func(c security) bool { return ptr.Deref(c.Privileged, false) }, runningPrivileged, refuse,
		"a process has the rights of the user who started the server, no more: remove it"},
	{"capabilities.add", func(c security) bool { return c.Capabilities != nil && len(c.Capabilities.Add) > 0 }, asContainer, refuse,
		"the process runtime cannot give capabilities: remove it"},
	{"capabilities.drop", func(c security) bool { return c.Capabilities != nil && len(c.Capabilities.Drop) > 0 }, unlessRoot, warn,
		"has no effect: processes keep the capabilities of the user they run as"},
	{"readOnlyRootFilesystem", func(c security) bool { return ptr.Deref(c.ReadOnlyRootFilesystem, false) }, asContainer, warn,
		"has no effect: processes see the file system of the machine"},
	{"procMount", func(c security) bool {
		return ptr.Deref(c.ProcMount, corev1.DefaultProcMount) != corev1.DefaultProcMount
	}, asContainer, refuse,
		"the process runtime supports no other proc mount: remove it"},
	{"seLinuxOptions", func(c security) bool { return c.SELinuxOptions != nil }, nil, refuse, noLabels},
	{"windowsOptions", func(c security) bool { return c.WindowsOptions != nil }, nil, refuse, runsLinux},
	{"seccompProfile", func(c security) bool { return wantsSeccompFile(c.SeccompProfile) }, asContainer, refuse, noProfiles},
	{"seccompProfile", func(c security) bool { return wantsSeccomp(c.SeccompProfile) }, asContainer, warn, noSeccomp},
	{"appArmorProfile", func(c security) bool { return wantsAppArmorFile(c.AppArmorProfile) }, nil, refuse, noProfiles},
	{"appArmorProfile", func(c security) bool { return wantsAppArmor(c.AppArmorProfile) }, nil, warn, noAppArmor},
}

func wantsSeccompFile(p *corev1.SeccompProfile) bool {
	return p != nil && p.Type == corev1.SeccompProfileTypeLocalhost
}

func wantsSeccomp(p *corev1.SeccompProfile) bool {
	return p != nil && p.Type == corev1.SeccompProfileTypeRuntimeDefault
}

func wantsAppArmorFile(p *corev1.AppArmorProfile) bool {
	return p != nil && p.Type == corev1.AppArmorProfileTypeLocalhost
}

func wantsAppArmor(p *corev1.AppArmorProfile) bool {
	return p != nil && p.Type == corev1.AppArmorProfileTypeRuntimeDefault
}

// isOther reports whether id is set and is not own, the ID that the processes of this server have by default.
func isOther(id *int64, own int) bool { return id != nil && *id != int64(own) }
