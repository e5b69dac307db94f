package pod

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/runtime"
)

const (
	noTCPHook = "a hook cannot use TCP, in no cluster either: use exec, httpGet or sleep"

	// noStreams is for terminals, standard input and commands.
	noStreams = "takes Linux 5.9, on amd64 or arm64, and a host process of this version, which is started when all pods have ended"
)

// containerRules are the rules for containers and init containers.
var containerRules = []rule[*corev1.Container]{
	{"command", func(c *corev1.Container) bool { return len(c.Command) == 0 }, asContainer, refuse,
		"is needed on the process runtime: the image's entrypoint is not known because images are not pulled; set command to a program of this machine"},
	{"imagePullPolicy", func(c *corev1.Container) bool { return c.ImagePullPolicy != defaultPullPolicy(c.Image) }, asContainer, warn,
		"has no effect: images are not pulled"},
	{"ports", func(c *corev1.Container) bool { return slices.ContainsFunc(c.Ports, hasHostIP) }, nil, warn,
		"hostIP has no effect: the program chooses the address on which it listens"},

	{"livenessProbe.exec", func(c *corev1.Container) bool { return runsCommand(c.LivenessProbe) }, attaching, refuse, noStreams},
	{"readinessProbe.exec", func(c *corev1.Container) bool { return runsCommand(c.ReadinessProbe) }, attaching, refuse, noStreams},
	{"startupProbe.exec", func(c *corev1.Container) bool { return runsCommand(c.StartupProbe) }, attaching, refuse, noStreams},
	{"lifecycle.postStart.exec", ofHook(postStart, func(h *corev1.LifecycleHandler) bool { return h.Exec != nil }), attaching, refuse, noStreams},
	{"lifecycle.postStart.tcpSocket", ofHook(postStart, func(h *corev1.LifecycleHandler) bool { return h.TCPSocket != nil }), nil, refuse, noTCPHook},
	{"lifecycle.preStop.exec", ofHook(preStop, func(h *corev1.LifecycleHandler) bool { return h.Exec != nil }), attaching, refuse, noStreams},
	{"lifecycle.preStop.tcpSocket", ofHook(preStop, func(h *corev1.LifecycleHandler) bool { return h.TCPSocket != nil }), nil, refuse, noTCPHook},

	{"stdin", func(c *corev1.Container) bool { return c.Stdin }, attaching, refuse, noStreams},
	{"tty", func(c *corev1.Container) bool { return c.TTY }, attaching, refuse, noStreams},
	{"volumeDevices", func(c *corev1.Container) bool { return len(c.VolumeDevices) > 0 }, nil, refuse,
		"block devices are not offered to pods: remove it"},

	{"resources.claims", func(c *corev1.Container) bool { return len(c.Resources.Claims) > 0 }, nil, refuse,
		"ResourceClaims are not served: remove it"},
	{"resizePolicy", func(c *corev1.Container) bool { return len(c.ResizePolicy) > 0 }, nil, warn,
		"has no effect: the resources of a running pod do not change here"},
	{"resources.limits[cpu]", limits(corev1.ResourceCPU), func(i runtime.Info) bool { return i.EnforcesCPU }, warn, notInForce},
	{"resources.limits[memory]", limits(corev1.ResourceMemory), func(i runtime.Info) bool { return i.EnforcesMemory }, warn, notInForce},
	{"resources.limits[memory]", hasTinyMemory, func(i runtime.Info) bool { return !i.EnforcesMemory }, warn,
		"is less than any program needs, so the container will be OOMKilled: raise it, or use a suffix such as Mi"},
	{"resources.limits[ephemeral-storage]", limits(corev1.ResourceEphemeralStorage), measuring, warn, notMeasured},
	{"resources.limits[ephemeral-storage]", limits(corev1.ResourceEphemeralStorage), measuringFiles, warn,
		"counts the logs and emptyDirs of a process only: its other files are the machine's"},
	{"terminationMessagePath", messagesElsewhere, withMounts, warn,
		"has no effect: the process runtime cannot put a file at this path on this machine"},
}

func attaching(i runtime.Info) bool { return i.CanExec }

const notMeasured = "is not enforced: the host process is of an older version; start the server again when all pods have ended"

const notInForce = "is not enforced: the node cannot limit processes on this machine"

func limits(name corev1.ResourceName) func(*corev1.Container) bool {
	return func(c *corev1.Container) bool {
		_, ok := c.Resources.Limits[name]
		return ok
	}
}

// leastMemory is less than the smallest program takes.
const leastMemory = 128 << 10

func hasTinyMemory(c *corev1.Container) bool {
	limit := c.Resources.Limits[corev1.ResourceMemory]
	return limit.Sign() > 0 && limit.Value() < leastMemory
}

// hasHostIP reports whether a port is mapped to another port of the host, or bound to one of its addresses.
func hasHostIP(p corev1.ContainerPort) bool { return p.HostIP != "" }

func runsCommand(p *corev1.Probe) bool { return p != nil && p.Exec != nil }

func postStart(l *corev1.Lifecycle) *corev1.LifecycleHandler { return l.PostStart }
func preStop(l *corev1.Lifecycle) *corev1.LifecycleHandler   { return l.PreStop }

func ofHook(hook func(*corev1.Lifecycle) *corev1.LifecycleHandler, asked func(*corev1.LifecycleHandler) bool) func(*corev1.Container) bool {
	return func(c *corev1.Container) bool {
		return c.Lifecycle != nil && hook(c.Lifecycle) != nil && asked(hook(c.Lifecycle))
	}
}

func messagesElsewhere(c *corev1.Container) bool {
	return c.TerminationMessagePath != corev1.TerminationMessagePathDefault
}

// variable is an environment variable with its pod.
type variable struct {
	*corev1.EnvVar
	pod *corev1.PodSpec
}

// envRules are the rules for environment variables.
var envRules = []rule[variable]{
	{"valueFrom.fileKeyRef", inMemory, nil, refuse, "the server cannot read files of an emptyDir in memory: use one without medium"},
}

// inMemory reports whether a variable comes from a file in memory.
func inMemory(v variable) bool {
	if v.ValueFrom == nil || v.ValueFrom.FileKeyRef == nil {
		return false
	}
	volume := volumeOf(v.pod, v.ValueFrom.FileKeyRef.VolumeName)
	return volume != nil && volume.EmptyDir != nil && volume.EmptyDir.Medium == corev1.StorageMediumMemory
}

func checkContainer(s *corev1.PodSpec, c *corev1.Container, node runtime.Info, p *field.Path) []finding {
	found := applyRules(containerRules, c, node, p)
	for i := range c.Env {
		found = append(found, applyRules(envRules, variable{&c.Env[i], s}, node, p.Child("env").Index(i))...)
	}
	for i := range c.VolumeMounts {
		found = append(found, checkMount(&c.VolumeMounts[i], node, p.Child("volumeMounts").Index(i))...)
	}
	found = append(found, checkResources(c, p.Child("resources"))...)
	return append(found, checkSecurity(s, c, node, p.Child("securityContext"))...)
}

// checkResources refuses resources that the node does not have, because a pod that requests them would wait forever.
func checkResources(c *corev1.Container, p *field.Path) []finding {
	var found []finding
	for _, name := range slices.Sorted(resourceNames(c.Resources.Requests)) {
		found = append(found, checkDevice(name, p.Child("requests"))...)
	}
	for _, name := range slices.Sorted(resourceNames(c.Resources.Limits)) {
		// A limit without a request in a template becomes a request of its pods.
		if _, requested := c.Resources.Requests[corev1.ResourceName(name)]; !requested {
			found = append(found, checkDevice(name, p.Child("limits"))...)
		}
	}
	return found
}

func checkDevice(name string, p *field.Path) []finding {
	switch {
	case name == string(corev1.ResourceCPU), name == string(corev1.ResourceMemory), name == string(corev1.ResourceEphemeralStorage):
		return nil
	case strings.HasPrefix(name, corev1.ResourceHugePagesPrefix):
		return []finding{{p.Key(name), refuse, "huge pages are not supported here: remove it"}}
	}
	return []finding{{p.Key(name), refuse, "this node has only cpu, memory and ephemeral-storage: remove it"}}
}

func resourceNames(list corev1.ResourceList) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range list {
			if !yield(string(name)) {
				return
			}
		}
	}
}

// security is a container's security context with the settings of the pod that apply to it.
type security struct {
	corev1.SecurityContext
	userOfPod *int64
}

func checkSecurity(s *corev1.PodSpec, c *corev1.Container, node runtime.Info, p *field.Path) []finding {
	said := security{SecurityContext: ptr.Deref(c.SecurityContext, corev1.SecurityContext{})}
	if s.SecurityContext != nil {
		said.userOfPod = s.SecurityContext.RunAsUser
		said.RunAsNonRoot = ptr.To(ptr.Deref(said.RunAsNonRoot, ptr.Deref(s.SecurityContext.RunAsNonRoot, false)))
	}
	return applyRules(securityRules, said, node, p)
}
