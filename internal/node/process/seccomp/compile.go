package seccomp

import (
	"fmt"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// maxInstructions is how many instructions the kernel accepts.
const maxInstructions = 4096

// Compile makes the program for a container on a machine. caps are the capabilities (CAP_SYS_ADMIN, …) in the
// container's bounding set.
//
// Calls by a convention that the profile does not allow kill the process, because no program uses another convention by
// mistake. Calls of x32 are the exception: they look like those of x86_64, and fail with ENOSYS as on kernels without x32.
func (p Profile) Compile(caps []string, host Host) ([]unix.SockFilter, error) {
	allowed, err := p.conventions(host)
	if err != nil {
		return nil, err
	}
	var rules []Rule
	for _, rule := range p.Rules {
		if rule.applies(caps, host) {
			rules = append(rules, rule)
		}
	}
	program := newProgram()
	// The program is built from its end, so the first instructions are added last.
	groups := byAudit(allowed)
	entries := make([]label, len(groups))
	refuse := program.ret(KillProcess)
	for i := len(groups) - 1; i >= 0; i-- {
		entries[i] = program.loadWord(offsetNumber, program.search(p.spans(rules, groups[i])))
	}
	at := refuse
	for i := len(groups) - 1; i >= 0; i-- {
		at = program.branch(bpf.JumpEqual, groups[i][0].audit, entries[i], at)
	}
	program.loadWord(offsetArch, at)
	return program.assemble()
}

// byAudit groups the conventions that have the same audit number.
func byAudit(allowed []convention) [][]convention {
	var groups [][]convention
	for _, one := range allowed {
		if n := len(groups); n > 0 && groups[n-1][0].audit == one.audit {
			groups[n-1] = append(groups[n-1], one)
			continue
		}
		groups = append(groups, []convention{one})
	}
	return groups
}

// search finds the span that contains the number in the register, and goes to its verdict.
func (p *program) search(spans []span) label {
	if len(spans) == 1 {
		return p.addVerdict(spans[0].does, spans[0].narrow)
	}
	middle := len(spans) / 2
	upper := p.search(spans[middle:])
	lower := p.search(spans[:middle])
	return p.branch(bpf.JumpGreaterOrEqual, spans[middle].first, upper, lower)
}

// assemble puts the instructions in order and encodes them.
func (p *program) assemble() ([]unix.SockFilter, error) {
	if len(p.code) > maxInstructions {
		return nil, fmt.Errorf("the profile makes a program of %d instructions; the kernel accepts %d", len(p.code), maxInstructions)
	}
	filter := make([]unix.SockFilter, 0, len(p.code))
	for i := len(p.code) - 1; i >= 0; i-- {
		raw, err := p.code[i].Assemble()
		if err != nil {
			return nil, fmt.Errorf("encode the program: %w", err)
		}
		filter = append(filter, unix.SockFilter{Code: raw.Op, Jt: raw.Jt, Jf: raw.Jf, K: raw.K})
	}
	return filter, nil
}
