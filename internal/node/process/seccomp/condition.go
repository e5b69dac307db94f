package seccomp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Condition makes a rule depend on the container and the machine. An empty field means no condition.
type Condition struct {
	// Caps are capabilities (CAP_SYS_ADMIN, …) in the container's bounding set.
	Caps []string
	// Arches are names of machines as Docker writes them: amd64, arm64, x86, s390x, …
	Arches []string
	// MinKernel is the oldest kernel for which the condition holds. Zero means no condition.
	MinKernel Kernel
}

// Kernel is a kernel version, without its patch level. Zero is unknown, which counts as newer than all others.
type Kernel struct{ Version, Major uint }

// atLeast reports whether k is other or newer.
func (k Kernel) atLeast(other Kernel) bool {
	if k == (Kernel{}) {
		return true
	}
	return k.Version > other.Version || k.Version == other.Version && k.Major >= other.Major
}

// parseKernel reads "4.8".
func parseKernel(text string) (Kernel, error) {
	if text == "" {
		return Kernel{}, nil
	}
	version, major, _ := strings.Cut(text, ".")
	v, errVersion := strconv.ParseUint(version, 10, 8)
	m, errMajor := strconv.ParseUint(major, 10, 8)
	kernel := Kernel{Version: uint(v), Major: uint(m)}
	if errVersion != nil || errMajor != nil || kernel == (Kernel{}) {
		return Kernel{}, fmt.Errorf("%q is not a kernel version of the form 4.8", text)
	}
	return kernel, nil
}

// applies reports whether the rule is part of the profile for a container with these capabilities on this machine.
func (r Rule) applies(caps []string, host Host) bool {
	return r.Includes.holdsInFull(caps, host) && !r.Excludes.holdsInPart(caps, host)
}

// holdsInFull reports whether all parts of c hold: the container has all capabilities, the machine is in the list, and the
// kernel is new enough.
func (c Condition) holdsInFull(caps []string, host Host) bool {
	for _, name := range c.Caps {
		if !slices.Contains(caps, name) {
			return false
		}
	}
	if len(c.Arches) > 0 && !slices.Contains(c.Arches, host.dockerName()) {
		return false
	}
	return host.Kernel.atLeast(c.MinKernel)
}

// holdsInPart reports whether at least one part of c holds.
func (c Condition) holdsInPart(caps []string, host Host) bool {
	for _, name := range c.Caps {
		if slices.Contains(caps, name) {
			return true
		}
	}
	if slices.Contains(c.Arches, host.dockerName()) {
		return true
	}
	return c.MinKernel != Kernel{} && host.Kernel.atLeast(c.MinKernel)
}
