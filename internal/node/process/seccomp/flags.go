package seccomp

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// flagBits holds the flags of profiles. TSYNC asks for all threads of the loading process, which here is about to
// execute the container's command and has but one.
var flagBits = map[string]uint{
	"SECCOMP_FILTER_FLAG_TSYNC":      0,
	"SECCOMP_FILTER_FLAG_LOG":        unix.SECCOMP_FILTER_FLAG_LOG,
	"SECCOMP_FILTER_FLAG_SPEC_ALLOW": unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW,
}

// parseFlags reads the flags of a profile. A profile without a word on flags gets those of runc and crun: without
// SPEC_ALLOW a filter slows its processes down by mitigations against Spectre, on older kernels.
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
