package seccomp

import (
	"testing"

	"golang.org/x/net/bpf"
)

// target is where a branch leads, also by a bridge.
func (p *program) target(branch label, taken bool) label {
	jump := p.code[branch].(bpf.JumpIf)
	skip := jump.SkipFalse
	if taken {
		skip = jump.SkipTrue
	}
	at := branch - 1 - label(skip)
	if bridge, ok := p.code[at].(bpf.Jump); ok {
		at -= 1 + label(bridge.Skip)
	}
	return at
}

// A branch reaches its targets at any distance, below and above the 255 instructions that a conditional jump can skip.
func TestBranchReachesItsTargets(t *testing.T) {
	for between := range 10 {
		for beyond := range 600 {
			p := newProgram()
			first := p.before(p.ret(Allow), bpf.LoadAbsolute{Off: offsetArch, Size: sizeWord})
			second := first
			for range between {
				second = p.before(second, bpf.LoadAbsolute{Off: offsetNumber, Size: sizeWord})
			}
			for range beyond {
				p.add(bpf.LoadAbsolute{Off: offsetNumber, Size: sizeWord})
			}
			for _, to := range [][2]label{{first, second}, {second, first}} {
				branch := p.branch(bpf.JumpEqual, 1, to[0], to[1])
				if to[0] == to[1] {
					continue
				}
				if got := p.target(branch, true); got != to[0] {
					t.Fatalf("%d and %d instructions: yes leads to %d, not to %d", between, beyond, got, to[0])
				}
				if got := p.target(branch, false); got != to[1] {
					t.Fatalf("%d and %d instructions: no leads to %d, not to %d", between, beyond, got, to[1])
				}
			}
		}
	}
}
