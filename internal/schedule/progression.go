package schedule

import "sort"

// progression is due at at(k) for each k from first up to, but not including, end. The times grow with k.
type progression struct {
	first, end int64
	at         func(k int64) int64
	// start is at(0). Times k and k+1 are between shortest and longest apart, but clock changes can move each of them by up to
	// clockChangeMargin.
	start, shortest, longest int64
}

// clockChangeMargin is how far clock changes can move a time.
const clockChangeMargin = 2 * day

func (p progression) next(after int64) (int64, bool) {
	k := p.following(after)
	if k >= p.end {
		return 0, false
	}
	return p.at(k), true
}

func (p progression) count(after, until int64) (int64, int64) {
	from, to := p.following(after), p.following(until)
	if from >= to {
		return 0, 0
	}
	return to - from, p.at(to - 1)
}

// following returns the first k whose time is after t, found by binary search between the bounds that longest and shortest give.
func (p progression) following(t int64) int64 {
	low := p.within((t - p.start - clockChangeMargin) / p.longest)
	high := p.within((t-p.start+clockChangeMargin)/p.shortest + 1)
	return low + int64(sort.Search(int(high-low), func(i int) bool { return p.at(low+int64(i)) > t }))
}

func (p progression) within(k int64) int64 { return min(max(k, p.first), p.end) }
