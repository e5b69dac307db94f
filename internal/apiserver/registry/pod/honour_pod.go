package pod

import (
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/runtime"
)

const oneNode = "has no effect: there is one node and every pod runs on it"

// needsNetwork is said of fields that make no difference in the machine's network.
const needsNetwork = "has an effect only in a network of the pod's own, which it gets in a namespace that has a Service, or with a subdomain, and never with hostNetwork"

// podRules are the rules for fields of the pod itself.
var podRules = []rule[*corev1.PodSpec]{
	// Scheduling.
	{"affinity", func(s *corev1.PodSpec) bool { return s.Affinity != nil }, nil, warn, oneNode},
	{"nodeSelector", func(s *corev1.PodSpec) bool { return len(s.NodeSelector) > 0 }, nil, warn, oneNode},
	{"topologySpreadConstraints", func(s *corev1.PodSpec) bool { return len(s.TopologySpreadConstraints) > 0 }, nil, warn, oneNode},
	{"schedulerName", func(s *corev1.PodSpec) bool { return s.SchedulerName != corev1.DefaultSchedulerName }, nil, warn,
		"has no effect: the only node runs all pods, without a scheduler"},
	{"schedulingGroup", func(s *corev1.PodSpec) bool { return s.SchedulingGroup != nil }, nil, warn,
		"has no effect: pods are started one by one, the oldest first"},
	{"priorityClassName", func(s *corev1.PodSpec) bool { return s.PriorityClassName != "" }, nil, warn,
		"has no effect: pods are started oldest first"},
	{"priority", func(s *corev1.PodSpec) bool { return ptr.Deref(s.Priority, 0) != 0 }, nil, warn,
		"has no effect: pods are started oldest first"},
	{"evictionResponders", func(s *corev1.PodSpec) bool { return len(s.EvictionResponders) > 0 }, nil, warn,
		"has no effect: nothing asks for evictions here"},

	// Accounts. Tokens are never mounted, also with automountServiceAccountToken.
	{"serviceAccountName", func(s *corev1.PodSpec) bool { return s.ServiceAccountName != "" && s.ServiceAccountName != "default" }, nil, warn,
		"pods get no service account token: of the account only imagePullSecrets count, for images"},
	{"automountServiceAccountToken", func(s *corev1.PodSpec) bool { return ptr.Deref(s.AutomountServiceAccountToken, false) }, nil, warn,
		"has no effect: pods get no service account token"},
	{"imagePullSecrets", func(s *corev1.PodSpec) bool { return len(s.ImagePullSecrets) > 0 }, asContainer, warn,
		"has no effect: programs of this machine need no image"},

	// Names and networks.
	{"hostname", func(s *corev1.PodSpec) bool { return s.Hostname != "" }, withHostname, warn,
		"has no effect: the process runtime cannot give a container a host name of its own on this machine"},
	{"hostnameOverride", func(s *corev1.PodSpec) bool { return s.HostnameOverride != nil }, withHostname, warn,
		"has no effect: the process runtime cannot give a container a host name of its own on this machine"},
	{"setHostnameAsFQDN", func(s *corev1.PodSpec) bool { return ptr.Deref(s.SetHostnameAsFQDN, false) }, withHostname, warn,
		"has no effect: the process runtime cannot give a container a host name of its own on this machine"},
	{"subdomain", func(s *corev1.PodSpec) bool { return s.Subdomain != "" && !ptr.Deref(s.SetHostnameAsFQDN, false) }, withNetworks, warn,
		"only the pod itself knows the name: pods cannot have networks of their own on this machine"},
	{"hostNetwork", func(s *corev1.PodSpec) bool { return !s.HostNetwork && wantsHostPorts(s) }, nil, warn,
		"is not set, so a hostPort leads nowhere if the pod gets a network of its own: set it to true, or use a Service of type NodePort"},
	{"dnsPolicy", wantsOtherDNS, nil, warn, needsNetwork},
	{"dnsConfig", func(s *corev1.PodSpec) bool { return s.DNSConfig != nil && mayShareNetwork(s) }, nil, warn, needsNetwork},
	{"hostAliases", func(s *corev1.PodSpec) bool { return len(s.HostAliases) > 0 }, withMounts, refuse,
		"the process runtime cannot give a container an /etc/hosts of its own on this machine: add the names to the machine's and remove this field"},

	// Kernel namespaces.
	{"hostPID", func(s *corev1.PodSpec) bool { return s.HostPID }, sharingNamespaces, refuse,
		"only containers from images on a server that root has started can have the machine's process ids: remove it"},
	{"hostIPC", func(s *corev1.PodSpec) bool { return s.HostIPC }, sharingNamespaces, refuse,
		"only containers from images on a server that root has started can have the shared memory and message queues of the machine: remove it"},
	{"shareProcessNamespace", func(s *corev1.PodSpec) bool { return ptr.Deref(s.ShareProcessNamespace, false) }, sharingPIDs, refuse,
		"each container is a process tree of its own on the process runtime: remove it"},
	{"hostUsers", func(s *corev1.PodSpec) bool { return !ptr.Deref(s.HostUsers, true) }, withoutMachineUsers, refuse,
		"only containers from images on a server that runs without root have a user namespace of their own: remove it, or set it to true"},
	{"overhead", func(s *corev1.PodSpec) bool { return len(s.Overhead) > 0 }, nil, refuse,
		"it comes from a RuntimeClass, and none here has one: remove it"},
	{"os.name", func(s *corev1.PodSpec) bool { return s.OS != nil && s.OS.Name != corev1.Linux }, nil, refuse,
		runsLinux},

	// Devices and resources.
	{"resourceClaims", func(s *corev1.PodSpec) bool { return len(s.ResourceClaims) > 0 }, nil, refuse,
		"ResourceClaims are not served: remove it"},
	{"resources.limits", func(s *corev1.PodSpec) bool { return s.Resources != nil && len(s.Resources.Limits) > 0 }, nil, warn,
		"has no effect: only limits of containers are enforced; set them there"},

	// Security.
	{"securityContext.runAsUser", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return isOther(c.RunAsUser, os.Getuid()) }), withUsers, refuse, cannotSetUser},
	{"securityContext.runAsGroup", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return isOther(c.RunAsGroup, os.Getgid()) }), withUsers, refuse, cannotSetUser},
	{"securityContext.supplementalGroups", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return len(c.SupplementalGroups) > 0 }), withUsers, refuse, cannotSetUser},
	{"securityContext.fsGroup", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return isOther(c.FSGroup, os.Getgid()) }), withUsers, refuse, cannotSetUser},
	{"securityContext.sysctls", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return slices.ContainsFunc(c.Sysctls, isOfMachine) }), nil, refuse,
		"only kernel.shm*, kernel.msg*, kernel.sem and fs.mqueue.* can be a pod's own here: set the others on the machine and remove them"},
	{"securityContext.sysctls", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return len(c.Sysctls) > 0 }), settingSysctls, refuse,
		"only containers from images can have kernel parameters of their own, and without root only from Linux 6.9 on: set them on the machine and remove this field"},
	{"securityContext.seLinuxOptions", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return c.SELinuxOptions != nil }), nil, refuse, noLabels},
	{"securityContext.seLinuxChangePolicy", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return c.SELinuxChangePolicy != nil }), nil, warn,
		"has no effect: containers get no SELinux labels here"},
	{"securityContext.windowsOptions", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return c.WindowsOptions != nil }), nil, refuse, runsLinux},
	{"securityContext.seccompProfile", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return wantsSeccompFile(c.SeccompProfile) }), asContainer, refuse, noProfiles},
	{"securityContext.seccompProfile", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return wantsSeccomp(c.SeccompProfile) }), asContainer, warn, noSeccomp},
	{"securityContext.appArmorProfile", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return wantsAppArmorFile(c.AppArmorProfile) }), nil, refuse, noProfiles},
	{"securityContext.appArmorProfile", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return wantsAppArmor(c.AppArmorProfile) }), nil, warn, noAppArmor},
}

func isOfMachine(s corev1.Sysctl) bool { return !runtime.IsIPCSysctl(runtime.SysctlName(s.Name)) }

func ofPodSecurity(asked func(*corev1.PodSecurityContext) bool) func(*corev1.PodSpec) bool {
	return func(s *corev1.PodSpec) bool { return s.SecurityContext != nil && asked(s.SecurityContext) }
}

// mayShareNetwork reports whether the pod has the machine's network, unless its namespace has Services.
func mayShareNetwork(s *corev1.PodSpec) bool { return s.HostNetwork || s.Subdomain == "" }

// wantsOtherDNS reports whether the pod asks for other DNS servers than the machine's, which it may not get.
func wantsOtherDNS(s *corev1.PodSpec) bool {
	return s.DNSPolicy == corev1.DNSNone && mayShareNetwork(s) || s.DNSPolicy == corev1.DNSClusterFirstWithHostNet && s.HostNetwork
}

func wantsHostPorts(s *corev1.PodSpec) bool {
	for _, all := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for _, c := range all {
			if slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.HostPort != 0 }) {
				return true
			}
		}
	}
	return false
}
