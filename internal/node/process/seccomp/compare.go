package seccomp

import "golang.org/x/net/bpf"

// Offsets and sizes in struct seccomp_data. Words have 32 bits, and all supported machines are little-endian.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16
	sizeArg      = 8
	sizeWord     = 4
)

// loadWord loads a word of seccomp_data, then goes to next.
func (p *program) loadWord(offset uint32, next label) label {
	return p.before(next, bpf.LoadAbsolute{Off: offset, Size: sizeWord})
}

// lower and upper load one half of an argument.
func (p *program) lower(arg uint, next label) label {
	return p.loadWord(offsetArgs+uint32(arg)*sizeArg, next)
}

func (p *program) upper(arg uint, next label) label {
	return p.loadWord(offsetArgs+uint32(arg)*sizeArg+sizeWord, next)
}

// addVerdict adds the instructions for a verdict, if they are not there, and returns where they begin.
func (p *program) addVerdict(does verdict, narrow bool) label {
	if len(does.cases) == 0 {
		return p.ret(does.otherwise)
	}
	key := does.key()
	if narrow {
		key += " narrow"
	}
	if at, exists := p.verdicts[key]; exists {
		return at
	}
	at := p.ret(does.otherwise)
	for i := len(does.cases) - 1; i >= 0; i-- {
		fits, fails := p.ret(does.cases[i].action), at
		at = fits
		for j := len(does.cases[i].all) - 1; j >= 0; j-- {
			at = p.compare(does.cases[i].all[j], narrow, at, fails)
		}
	}
	p.verdicts[key] = at
	return at
}

// compare goes to yes if the condition holds, or else to no.
func (p *program) compare(c condition, narrow bool, yes, no label) label {
	const all = ^uint64(0)
	switch c.Op {
	case NotEqual:
		return p.equal(c, all, narrow, no, yes)
	case LessThan:
		return p.ordered(c, bpf.JumpGreaterOrEqual, narrow, no, yes)
	case LessOrEqual:
		return p.ordered(c, bpf.JumpGreaterThan, narrow, no, yes)
	case GreaterOrEqual:
		return p.ordered(c, bpf.JumpGreaterOrEqual, narrow, yes, no)
	case GreaterThan:
		return p.ordered(c, bpf.JumpGreaterThan, narrow, yes, no)
	case MaskedEqual:
		mask := c.Value
		c.Value = c.ValueTwo & mask
		return p.equal(c, mask, narrow, yes, no)
	}
	return p.equal(c, all, narrow, yes, no)
}

// ordered compares the upper halves first. The lower ones are compared only if the upper ones are equal.
func (p *program) ordered(c condition, test bpf.JumpTest, narrow bool, yes, no label) label {
	at := p.lower(c.Index, p.branch(test, uint32(c.Value), yes, no))
	if narrow {
		return at
	}
	at = p.branch(bpf.JumpEqual, uint32(c.Value>>32), at, no)
	return p.upper(c.Index, p.branch(bpf.JumpGreaterThan, uint32(c.Value>>32), yes, at))
}

// equal goes to yes if the argument under mask is Value or one of orEqual.
func (p *program) equal(c condition, mask uint64, narrow bool, yes, no label) label {
	at := no
	for i := len(c.orEqual) - 1; i >= 0; i-- {
		at = p.branch(bpf.JumpEqual, uint32(c.orEqual[i]), yes, at)
	}
	at = p.branch(bpf.JumpEqual, uint32(c.Value), yes, at)
	if uint32(mask) == 0 {
		at = yes
	} else {
		at = p.lower(c.Index, p.masked(uint32(mask), at))
	}
	if upper := uint32(mask >> 32); !narrow && upper != 0 {
		at = p.upper(c.Index, p.masked(upper, p.branch(bpf.JumpEqual, uint32(c.Value>>32), at, no)))
	}
	return at
}

// masked clears the bits of the register that are not in mask, then goes to next.
func (p *program) masked(mask uint32, next label) label {
	if mask == ^uint32(0) {
		return next
	}
	return p.before(next, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: mask})
}
