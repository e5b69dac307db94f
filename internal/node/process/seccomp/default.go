package seccomp

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// RuntimeDefault is the built-in profile, for containers whose seccompProfile has the type RuntimeDefault. It has the same
// verdicts as the default of Moby (github.com/moby/profiles/seccomp v0.3.0), which is much like containerd's: it allows what
// programs commonly need, and denies calls that administer the machine or have often been used to escape from a container.
func RuntimeDefault() Profile {
	return Profile{
		Default: Errno(unix.EPERM),
		ArchitectureMap: map[Architecture][]Architecture{
			X86_64:  {X86, X32},
			AArch64: {ARM},
		},
		Flags: unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW,
		Rules: slices.Concat(commonRules(), argumentRules(), machineRules(), capabilityRules()),
	}
}

// allow returns a rule that allows a list of calls.
func allow(names string) Rule { return Rule{Names: strings.Fields(names), Action: Allow} }

// commonRules allow calls to all containers.
func commonRules() []Rule {
	var rules []Rule
	for _, names := range commonCalls {
		rules = append(rules, allow(names))
	}
	// Before Linux 4.8 a tracer could change a call after it had passed the filter.
	tracing := allow("ptrace process_vm_readv process_vm_writev")
	tracing.Includes.MinKernel = Kernel{Version: 4, Major: 8}
	return append(rules, tracing)
}

// argumentRules allow calls with harmless arguments to all containers.
func argumentRules() []Rule {
	var rules []Rule
	for _, family := range socketFamilies {
		rules = append(rules, allowIf("socket", Arg{Index: 0, Op: Equal, Value: family}))
	}
	for _, persona := range personalities {
		rules = append(rules, allowIf("personality", Arg{Index: 0, Op: Equal, Value: persona}))
	}
	return rules
}

// allowIf returns a rule that allows one call under a condition on one argument.
func allowIf(name string, arg Arg) Rule {
	return Rule{Names: []string{name}, Action: Allow, Args: []Arg{arg}}
}

// personalities are those of personality(2) that do not weaken the memory layout. The last one changes nothing: it only
// returns the current one.
var personalities = []uint64{
	0x0,        // PER_LINUX
	0x8,        // PER_LINUX32
	0x20000,    // UNAME26
	0x20008,    // PER_LINUX32 and UNAME26
	0xffffffff, // only ask
}

// socketFamilies are the address families of socket(2) that the newest kernels have, except two: AF_ALG is the kernel's
// cryptography, which was used to escape from containers (CVE-2026-31431), and AF_VSOCK reaches the hypervisor past all
// network namespaces. Families that were removed from Linux are missing, because older kernels still have their
// unmaintained code. 32-bit x86 programs are not bound by this list, nor by Moby's: they make sockets through socketcall,
// whose arguments no filter sees, and would have no network without it. The first value is not a family: socket itself
// fails with the proper error.
var socketFamilies = []uint64{
	unix.AF_UNSPEC, unix.AF_UNIX, unix.AF_INET, unix.AF_BRIDGE, unix.AF_ATMPVC, unix.AF_X25, unix.AF_INET6,
	unix.AF_NETBEUI, unix.AF_SECURITY, unix.AF_KEY, unix.AF_NETLINK, unix.AF_PACKET, unix.AF_ASH, unix.AF_RDS,
	unix.AF_SNA, unix.AF_PPPOX, unix.AF_LLC, unix.AF_IB, unix.AF_MPLS, unix.AF_CAN, unix.AF_TIPC, unix.AF_BLUETOOTH,
	unix.AF_IUCV, unix.AF_RXRPC, unix.AF_PHONET, unix.AF_IEEE802154, unix.AF_NFC, unix.AF_KCM, unix.AF_QIPCRTR,
	unix.AF_SMC, unix.AF_XDP, unix.AF_MCTP,
}

// machineRules allow calls that only some machines have.
func machineRules() []Rule {
	var rules []Rule
	for _, on := range []struct{ arch, names string }{
		{"amd64", "arch_prctl modify_ldt"},
		{"arm64", "arm_fadvise64_64 arm_sync_file_range sync_file_range2 breakpoint cacheflush set_tls"},
	} {
		rule := allow(on.names)
		rule.Includes.Arches = []string{on.arch}
		rules = append(rules, rule)
	}
	return rules
}

// namespaceFlags are the flags of clone(2) for new namespaces, in which the child would have more rights.
const namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP

// capabilityRules allow the calls that need the container's capabilities.
func capabilityRules() []Rule {
	var rules []Rule
	for _, has := range capabilityCalls {
		rule := allow(has.names)
		rule.Includes.Caps = []string{has.capability}
		rules = append(rules, rule)
	}
	// Without CAP_SYS_ADMIN a container may clone, but not into new namespaces. The flags of clone3 are behind a pointer,
	// so no filter sees them; C libraries use clone if clone3 fails with ENOSYS.
	clone := allowIf("clone", Arg{Index: 0, Op: MaskedEqual, Value: namespaceFlags, ValueTwo: 0})
	clone3 := Rule{Names: []string{"clone3"}, Action: Errno(unix.ENOSYS)}
	clone.Excludes.Caps = []string{"CAP_SYS_ADMIN"}
	clone3.Excludes.Caps = []string{"CAP_SYS_ADMIN"}
	return append(rules, clone, clone3)
}
