package seccomp

// Profile says what happens to the system calls of a container.
type Profile struct {
	// Default is the action for calls that no rule matches.
	Default Action
	// Architectures lists the calling conventions that the container may use. The machine's own is always among them.
	Architectures []Architecture
	// ArchitectureMap is the other format: for each machine's own convention, the others that the container may use.
	ArchitectureMap map[Architecture][]Architecture
	// Flags are the SECCOMP_FILTER_FLAG_ bits to load the program with.
	Flags uint
	// Rules are the exceptions from Default.
	//
	// Rules for one call are alternatives:
	//
	//	a rule whose action is Default        is ignored
	//	one rule without Args                 decides, and rules with Args are ignored
	//	several rules without Args            the first
	//	several rules with Args that match    the one with the strictest action
	//
	// All but the last line are as in libseccomp. There the last case depends on the internal order of its tree, so here
	// the action is the one that the kernel would take with two filters.
	Rules []Rule
}

// Rule is what happens to some calls.
type Rule struct {
	// Names are the names of the calls. A name that the machine does not have is ignored, so that one profile can be used
	// for several architectures and kernels.
	Names []string
	// Action is what happens to a call that matches.
	Action Action
	// Args are conditions on the arguments, all of which must hold. As in runc and crun, if two of them are on the same
	// argument, each condition counts as a rule of its own.
	Args []Arg
	// Includes must hold in full, or else the rule is not part of the profile.
	Includes Condition
	// Excludes removes the rule from the profile if one part of it holds.
	Excludes Condition
}

// Arg is a condition on one argument of a call.
type Arg struct {
	// Index counts the arguments from 0.
	Index uint
	// Op compares the argument with Value.
	Op Operator
	// Value is a 64-bit number. On 32-bit calling conventions only its lower half is compared.
	Value uint64
	// ValueTwo is what the argument must be under the mask Value. It is used only by MaskedEqual.
	ValueTwo uint64
}

// Operator compares an argument with a value. All comparisons are unsigned.
type Operator string

// The operators, by their names in profiles.
const (
	NotEqual       Operator = "SCMP_CMP_NE"
	LessThan       Operator = "SCMP_CMP_LT"
	LessOrEqual    Operator = "SCMP_CMP_LE"
	Equal          Operator = "SCMP_CMP_EQ"
	GreaterOrEqual Operator = "SCMP_CMP_GE"
	GreaterThan    Operator = "SCMP_CMP_GT"
	MaskedEqual    Operator = "SCMP_CMP_MASKED_EQ"
)

// known reports whether the operator is one of the above.
func (o Operator) known() bool {
	switch o {
	case NotEqual, LessThan, LessOrEqual, Equal, GreaterOrEqual, GreaterThan, MaskedEqual:
		return true
	}
	return false
}

// maxArgs is how many arguments a system call can have.
const maxArgs = 6

// alternatives splits the conditions of a rule into groups, one of which must hold in full.
func (r Rule) alternatives() [][]Arg {
	if len(r.Args) == 0 {
		return [][]Arg{nil}
	}
	if !r.repeatsArgument() {
		return [][]Arg{r.Args}
	}
	var each [][]Arg
	for i := range r.Args {
		each = append(each, r.Args[i:i+1])
	}
	return each
}

// repeatsArgument reports whether two conditions are about one argument.
func (r Rule) repeatsArgument() bool {
	seen := map[uint]bool{}
	for _, arg := range r.Args {
		if seen[arg.Index] {
			return true
		}
		seen[arg.Index] = true
	}
	return false
}
