package containers

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// capabilityNames are all Linux capabilities. The index is the capability's number.
var capabilityNames = []string{
	"CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "LINUX_IMMUTABLE",
	"NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO",
	"SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME",
	"SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG",
	"WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF", "CHECKPOINT_RESTORE",
}

// defaultCapabilities are containerd's without MKNOD: no device cgroup would keep a container from the devices that it
// could create.
var defaultCapabilities = mustBits("CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "NET_RAW", "SETGID", "SETUID", "SETFCAP",
	"SETPCAP", "NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE")

const allCapabilities = "ALL"

var everyCapability = uint64(1)<<len(capabilityNames) - 1

func capabilityBit(name string) (uint64, error) {
	at := slices.Index(capabilityNames, strings.TrimPrefix(strings.ToUpper(name), "CAP_"))
	if at < 0 {
		return 0, fmt.Errorf("there is no capability %q", name)
	}
	return 1 << at, nil
}

func mustBits(names ...string) (bits uint64) {
	for _, name := range names {
		bit, err := capabilityBit(name)
		if err != nil {
			panic(err)
		}
		bits |= bit
	}
	return bits
}

func isPrivileged(c *corev1.Container) bool { return ptr.Deref(securityOf(c).Privileged, false) }

// capabilitiesOf returns the capabilities that the container's processes can have. As in containerd, ALL is applied
// before single names, and drop takes precedence over add.
func capabilitiesOf(c *corev1.Container) (uint64, error) {
	if isPrivileged(c) {
		return everyCapability, nil
	}
	asked := securityOf(c).Capabilities
	if asked == nil {
		return defaultCapabilities, nil
	}
	add, addAll, err := bitsOf(asked.Add)
	if err != nil {
		return 0, err
	}
	drop, dropAll, err := bitsOf(asked.Drop)
	if err != nil {
		return 0, err
	}
	bits := defaultCapabilities
	if addAll {
		bits = everyCapability
	}
	if dropAll {
		bits = 0
	}
	return (bits | add) &^ drop, nil
}

func bitsOf(names []corev1.Capability) (bits uint64, all bool, err error) {
	for _, name := range names {
		if strings.EqualFold(string(name), allCapabilities) {
			all = true
			continue
		}
		bit, err := capabilityBit(string(name))
		if err != nil {
			return 0, false, err
		}
		bits |= bit
	}
	return bits, all, nil
}

func namesOfCapabilities(bits uint64) []string {
	var names []string
	for i, name := range capabilityNames {
		if bits&(1<<i) != 0 {
			names = append(names, "CAP_"+name)
		}
	}
	return names
}
