package seccomp

import (
	"fmt"
	"slices"
)

// verdict is what happens to the calls with one number: the action of the first case that matches, or else otherwise.
type verdict struct {
	cases     []argCase
	otherwise Action
}

// argCase is an action for calls whose arguments meet all conditions.
type argCase struct {
	all    []condition
	action Action
}

// condition is an Arg, or several for equality of the same argument with different values, of which one must hold.
type condition struct {
	Arg
	// orEqual are further values for Equal. They differ from Value only in their lower halves.
	orEqual []uint64
}

// key is the same for equal verdicts.
func (v verdict) key() string { return fmt.Sprint(v) }

// always is a verdict that does not depend on arguments.
func always(action Action) verdict { return verdict{otherwise: action} }

// draft is a verdict to which rules are added. decided is set once a rule without conditions was added: later rules have no effect.
type draft struct {
	verdict
	decided bool
}

// add adds a rule, or one alternative of it, to those for the same call.
func (d *draft) add(action Action, args []Arg) {
	switch {
	case d.decided:
	case len(args) == 0:
		d.verdict, d.decided = always(action), true
	default:
		one := argCase{action: action}
		for _, arg := range args {
			one.all = append(one.all, condition{Arg: arg})
		}
		d.cases = append(d.cases, one)
	}
}

// finish sorts the cases, the strictest first, and merges those that differ only in one value.
func (d *draft) finish() verdict {
	slices.SortStableFunc(d.cases, func(a, b argCase) int {
		switch {
		case a.action.stricter(b.action):
			return -1
		case b.action.stricter(a.action):
			return 1
		}
		return 0
	})
	var folded []argCase
	for _, next := range d.cases {
		if n := len(folded); n > 0 && folded[n-1].canMerge(next) {
			values := &folded[n-1].all[0].orEqual
			*values = append(slices.Clip(*values), next.all[0].Value)
			continue
		}
		folded = append(folded, next)
	}
	d.cases = folded
	return d.verdict
}

// canMerge reports whether next differs from c only in the lower half of the value that one argument must have.
func (c argCase) canMerge(next argCase) bool {
	if c.action != next.action || len(c.all) != 1 || len(next.all) != 1 {
		return false
	}
	a, b := c.all[0].Arg, next.all[0].Arg
	return a.Op == Equal && b.Op == Equal && a.Index == b.Index && a.Value>>32 == b.Value>>32
}

// verdicts returns the verdicts on all calls that the rules name, by number. known is the largest number that the rules
// name, also with the default action; -1 if they name none.
func (p Profile) verdicts(rules []Rule, on convention) (byNumber map[uint32]verdict, known int64) {
	known = -1
	numbers := on.numbers()
	drafts := map[uint32]*draft{}
	for _, rule := range rules {
		for _, name := range rule.Names {
			if number, exists := numbers[name]; exists && number < firstArmPrivate {
				known = max(known, int64(number))
			}
			for _, one := range p.readings(rule, name, on) {
				number, exists := numbers[one.name]
				if !exists {
					continue
				}
				if drafts[number] == nil {
					drafts[number] = &draft{verdict: always(p.Default)}
				}
				drafts[number].add(rule.Action, one.args)
			}
		}
	}
	byNumber = make(map[uint32]verdict, len(drafts))
	for number, d := range drafts {
		byNumber[number] = d.finish()
	}
	return byNumber, known
}

// reading is one group of conditions of a rule on one call.
type reading struct {
	name string
	args []Arg
}

// readings are what a rule means for the call of that name, and for its multiplexer if it has one.
func (p Profile) readings(rule Rule, name string, on convention) []reading {
	if rule.Action == p.Default {
		return nil
	}
	var readings []reading
	for _, args := range rule.alternatives() {
		readings = append(readings, reading{name, args})
	}
	way, multiplexed := on.multiplexed[name]
	// The arguments of a multiplexed call are behind a pointer, which a filter cannot follow. A rule with conditions on
	// them applies to all calls if it denies, and to none if it allows.
	if multiplexed && (len(rule.Args) == 0 || rule.Action.stricter(p.Default)) {
		readings = append(readings, reading{way.via, []Arg{way.condition()}})
	}
	return readings
}
