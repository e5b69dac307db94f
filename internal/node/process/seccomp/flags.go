package seccomp

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// flagBits holds the flags of profiles. TSYNC applies the filter to all threads of the process. It has no effect here,
// because the process that loads the filter has one thread and then executes the container's command.
var flagBits = map[string]uint{
	"SECCOMP_FILTER_FLAG_TSYNC":      0,
	"SECCOMP_FILTER_FLAG_LOG":        unix.SECCOMP_FILTER_FLAG_LOG,
	"SECCOMP_FILTER_FLAG_SPEC_ALLOW": unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW,
}

// parseFlags parses the flags of a profile. A profile without the field gets SPEC_ALLOW, as with runc and crun: on older
// kernels a filter without it slows processes down by mitigations against Spectre.
func parseFlags(names []string) (uint, error) {
	if names == nil {
		return unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, nil
	}
	var flags uint
	for i, name := range names {
		if name == "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV" {
			return 0, fmt.Errorf("flags[%d]: %s is not supported: it belongs to SCMP_ACT_NOTIFY", i, name)
		}
		bits, known := flagBits[name]
		if !known {
			return 0, fmt.Errorf("flags[%d]: unknown flag %q", i, name)
		}
		flags |= bits
	}
	return flags, nil
}
