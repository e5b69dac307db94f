package schedule

import "sort"

// progression is due at at(k) for each k from first up to, but not including, end. The times grow with k. It is asked
// about by bisection, so that it does not matter how many there are.
type progression struct {
	first, end int64
	at         func(k int64) int64
}

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

// following is the first k that is due after t.
func (p progression) following(t int64) int64 {
	n := max(0, p.end-p.first)
	return p.first + int64(sort.Search(int(n), func(i int) bool { return p.at(p.first+int64(i)) > t }))
}
