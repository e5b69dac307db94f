package seccomp

import (
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

// span is a range of numbers with one verdict. It ends where the next one begins.
type span struct {
	first  uint32
	narrow bool
	does   verdict
}

// spans cover all numbers of all conventions that share one audit number. The first begins at zero.
func (p Profile) spans(rules []Rule, sharing []convention) []span {
	var all []span
	for _, on := range sharing {
		all = append(all, p.spansOf(rules, on)...)
	}
	// If the profile does not allow x32, its calls are denied even if Default allows: they would bypass all rules.
	if sharing[0].name == X86_64 && len(sharing) == 1 {
		all = append(all, span{first: x32Bit, does: always(Errno(unix.ENOSYS))})
	}
	// A verdict on arguments is never the last of its convention, so wide and narrow ones are never compared here.
	return slices.CompactFunc(all, func(a, b span) bool { return a.does.key() == b.does.key() })
}

// spansOf are the spans of one convention: a new one begins at each number that has a rule, at the number after it, and
// after the largest number that the profile names.
func (p Profile) spansOf(rules []Rule, on convention) []span {
	byNumber, known := p.verdicts(rules, on)
	borders := map[uint32]bool{0: true, uint32(known + 1): true}
	for number := range byNumber {
		borders[number], borders[number+1] = true, true
	}
	var all []span
	for _, number := range slices.Sorted(maps.Keys(borders)) {
		does, judged := byNumber[number]
		switch {
		case judged:
		case int64(number) > known:
			does = always(p.unknown(known))
		default:
			does = always(p.Default)
		}
		all = append(all, span{first: on.offset + number, narrow: on.narrow, does: does})
	}
	return all
}

// unknown is the action for calls that are newer than the profile, that is, with larger numbers than all that it names. As
// in runc they fail with ENOSYS where the default action would deny them: a C library that tries a new call uses an older
// one after ENOSYS, but fails after EPERM.
func (p Profile) unknown(known int64) Action {
	if p.Default.permissive() || known < 0 {
		return p.Default
	}
	return Errno(unix.ENOSYS)
}
