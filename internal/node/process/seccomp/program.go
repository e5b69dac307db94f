package seccomp

import "golang.org/x/net/bpf"

// program collects instructions from the last to the first. Jumps of BPF go only forward, so the target of a jump is
// already there when the jump is added, and its distance is known.
type program struct {
	code []bpf.Instruction
	// returns has the return instruction of each action that was added last, and so is nearest.
	returns map[Action]label
	// verdicts has the beginning of each verdict that looks at arguments.
	verdicts map[string]label
}

// label is the place of an instruction in program.code.
type label int

// maxSkip is how many instructions a conditional jump can skip.
const maxSkip = 255

func newProgram() *program {
	return &program{returns: map[Action]label{}, verdicts: map[string]label{}}
}

// add puts one instruction in front of the others.
func (p *program) add(one bpf.Instruction) label {
	p.code = append(p.code, one)
	return label(len(p.code) - 1)
}

// ret returns an action.
func (p *program) ret(action Action) label {
	at, exists := p.returns[action]
	if !exists {
		at = p.add(bpf.RetConstant{Val: uint32(action)})
		p.returns[action] = at
	}
	return at
}

// before adds an instruction that is followed by the one at next.
func (p *program) before(next label, one bpf.Instruction) label {
	if int(next) != len(p.code)-1 {
		p.bridge(next)
	}
	return p.add(one)
}

// branch adds a jump to yes if the register meets the condition, or else to no.
func (p *program) branch(test bpf.JumpTest, value uint32, yes, no label) label {
	if yes == no {
		return yes
	}
	no = p.near(no, 1) // there may be a bridge for yes in between
	yes = p.near(yes, 0)
	here := len(p.code)
	return p.add(bpf.JumpIf{
		Cond:      test,
		Val:       value,
		SkipTrue:  uint8(here - 1 - int(yes)),
		SkipFalse: uint8(here - 1 - int(no)),
	})
}

// near returns a label that leads to the given one and that a conditional jump can reach, even if more instructions are
// added before the jump.
func (p *program) near(to label, more int) label {
	if len(p.code)+more-1-int(to) <= maxSkip {
		return to
	}
	return p.bridge(to)
}

// bridge adds an instruction with the effect of a jump to the label: a jump, or a copy of the return at the label.
func (p *program) bridge(to label) label {
	end, isReturn := p.code[to].(bpf.RetConstant)
	if !isReturn {
		return p.add(bpf.Jump{Skip: uint32(len(p.code) - 1 - int(to))})
	}
	at := p.add(end)
	p.returns[Action(end.Val)] = at
	return at
}
