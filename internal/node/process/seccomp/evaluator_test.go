package seccomp_test

import (
	"slices"

	"github.com/stint-dev/stint/internal/node/process/seccomp"
	"golang.org/x/sys/unix"
)

// evaluate is the verdict of a profile, whose rules have no conditions on the machine, on a call. It follows the definition
// of Profile: rule by rule, with 64-bit numbers, and without ranges, trees and halves.
func evaluate(p seccomp.Profile, host string, c call) seccomp.Action {
	on, allowed := conventionOf(p, host, c)
	switch {
	case on == "":
		return seccomp.KillProcess
	case !allowed && on == seccomp.X32:
		return enosys
	case !allowed:
		return seccomp.KillProcess
	}
	numbers, offset := seccomp.Numbers(on)
	narrow := on != seccomp.X86_64 && on != seccomp.AArch64
	var fitting []seccomp.Rule
	known, named := uint32(0), false
	for _, rule := range p.Rules {
		for _, name := range rule.Names {
			if number, exists := numbers[name]; exists && number < 0xf0000 {
				known, named = max(known, number), true
			}
			if rule.Action == p.Default {
				continue
			}
			for _, r := range readings(p, on, name, rule) {
				number, exists := numbers[r.Names[0]]
				if exists && number+offset == c.number && (len(r.Args) == 0 || fits(r.Args, c, narrow)) {
					fitting = append(fitting, r)
				}
			}
		}
	}
	if action, found := decide(fitting); found {
		return action
	}
	judged := judgedAtAll(p, on, c.number-offset)
	if named && c.number-offset > known && !judged && p.Default != seccomp.Allow && p.Default != seccomp.Log {
		return enosys
	}
	return p.Default
}

// conventionOf is the calling convention of a call, and whether the profile allows it.
func conventionOf(p seccomp.Profile, host string, c call) (seccomp.Architecture, bool) {
	named := func(on seccomp.Architecture) bool { return slices.Contains(p.Architectures, on) }
	switch {
	case host == "amd64" && c.audit == unix.AUDIT_ARCH_X86_64 && c.number >= 0x40000000:
		return seccomp.X32, named(seccomp.X32)
	case host == "amd64" && c.audit == unix.AUDIT_ARCH_X86_64:
		return seccomp.X86_64, true
	case host == "amd64" && c.audit == unix.AUDIT_ARCH_I386:
		return seccomp.X86, named(seccomp.X86)
	case host == "arm64" && c.audit == unix.AUDIT_ARCH_AARCH64:
		return seccomp.AArch64, true
	case host == "arm64" && c.audit == unix.AUDIT_ARCH_ARM:
		return seccomp.ARM, named(seccomp.ARM)
	}
	return "", false
}

// readings are what a rule means for one name: for its own number, and for its multiplexer.
func readings(p seccomp.Profile, on seccomp.Architecture, name string, rule seccomp.Rule) []seccomp.Rule {
	rules := []seccomp.Rule{{Names: []string{name}, Action: rule.Action, Args: rule.Args}}
	via, first, exists := seccomp.Multiplexer(name)
	if !exists || on != seccomp.X86 {
		return rules
	}
	if len(rule.Args) > 0 && severity(rule.Action) <= severity(p.Default) {
		return rules
	}
	return append(rules, seccomp.Rule{Names: []string{via}, Action: rule.Action, Args: []seccomp.Arg{first}})
}

// judgedAtAll reports whether a rule names the number, also if its conditions do not hold.
func judgedAtAll(p seccomp.Profile, on seccomp.Architecture, number uint32) bool {
	numbers, _ := seccomp.Numbers(on)
	for _, rule := range p.Rules {
		for _, name := range rule.Names {
			for _, r := range readings(p, on, name, rule) {
				if n, exists := numbers[r.Names[0]]; exists && n == number && rule.Action != p.Default {
					return true
				}
			}
		}
	}
	return false
}

// decide is the action of several rules that match.
func decide(fitting []seccomp.Rule) (action seccomp.Action, found bool) {
	for _, rule := range fitting {
		if len(rule.Args) == 0 {
			return rule.Action, true
		}
		if !found || severity(rule.Action) > severity(action) {
			action, found = rule.Action, true
		}
	}
	return action, found
}

// severity orders actions by how much of the caller survives.
func severity(action seccomp.Action) int {
	switch action {
	case seccomp.Allow:
		return 0
	case seccomp.Log:
		return 1
	case seccomp.Trap:
		return 3
	case seccomp.KillThread:
		return 4
	case seccomp.KillProcess:
		return 5
	}
	return 2 // ERRNO
}

// fits reports whether the arguments of a call meet the conditions of a rule.
func fits(conditions []seccomp.Arg, c call, narrow bool) bool {
	seen := map[uint]int{}
	holding := 0
	for _, condition := range conditions {
		seen[condition.Index]++
		if holds(condition, c.args[condition.Index], narrow) {
			holding++
		}
	}
	if len(seen) < len(conditions) {
		return holding > 0
	}
	return holding == len(conditions)
}

func holds(c seccomp.Arg, arg uint64, narrow bool) bool {
	value, two := c.Value, c.ValueTwo
	if narrow {
		arg, value, two = uint64(uint32(arg)), uint64(uint32(value)), uint64(uint32(two))
	}
	switch c.Op {
	case seccomp.NotEqual:
		return arg != value
	case seccomp.LessThan:
		return arg < value
	case seccomp.LessOrEqual:
		return arg <= value
	case seccomp.Equal:
		return arg == value
	case seccomp.GreaterOrEqual:
		return arg >= value
	case seccomp.GreaterThan:
		return arg > value
	}
	return arg&value == two&value
}
