package job

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Interval is the indexes First to Last, both included.
type Interval struct{ First, Last int }

// Indexes is a set of completion indexes: intervals in order that neither overlap nor touch.
type Indexes []Interval

// ParseIndexes reads what String writes ("1,3-5,7") and leaves out indexes of completions and above. Malformed parts are
// left out too: a status that another client has damaged must not stop a Job.
func ParseIndexes(s string, completions int) Indexes {
	if s == "" {
		return nil
	}
	var parts Indexes
	for part := range strings.SplitSeq(s, ",") {
		iv, ok := ParseInterval(part)
		if !ok || iv.First >= completions {
			continue
		}
		iv.Last = min(iv.Last, completions-1)
		parts = append(parts, iv)
	}
	return normal(parts)
}

// ParseInterval reads one index or several in a row: "7" or "0-3".
func ParseInterval(s string) (Interval, bool) {
	from, to, ranged := strings.Cut(s, "-")
	first, ok := parseIndex(from)
	if !ok {
		return Interval{}, false
	}
	if !ranged {
		return Interval{first, first}, true
	}
	last, ok := parseIndex(to)
	return Interval{first, last}, ok && first <= last
}

func parseIndex(s string) (int, bool) {
	i, err := strconv.ParseUint(s, 10, 31)
	return int(i), err == nil
}

// normal sorts parts and joins those that overlap or touch.
func normal(parts Indexes) Indexes {
	if !slices.IsSortedFunc(parts, byFirst) {
		slices.SortFunc(parts, byFirst)
	}
	joined := parts[:0]
	for _, iv := range parts {
		if n := len(joined); n > 0 && iv.First <= joined[n-1].Last+1 {
			joined[n-1].Last = max(joined[n-1].Last, iv.Last)
			continue
		}
		joined = append(joined, iv)
	}
	return joined
}

func byFirst(a, b Interval) int { return cmp.Compare(a.First, b.First) }

// String is the form of status.completedIndexes: "1,3-5,7", two neighbours as "3,4".
func (x Indexes) String() string {
	var b []byte
	for i, iv := range x {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(iv.First), 10)
		switch {
		case iv.Last == iv.First:
			continue
		case iv.Last == iv.First+1:
			b = append(b, ',')
		default:
			b = append(b, '-')
		}
		b = strconv.AppendInt(b, int64(iv.Last), 10)
	}
	return string(b)
}

// Has reports whether i is in the set.
func (x Indexes) Has(i int) bool {
	n, found := slices.BinarySearchFunc(x, i, func(iv Interval, i int) int { return cmp.Compare(iv.First, i) })
	return found || (n > 0 && i <= x[n-1].Last)
}

// Count is the size of the set.
func (x Indexes) Count() int {
	n := 0
	for _, iv := range x {
		n += iv.Last - iv.First + 1
	}
	return n
}

// With returns the set with more indexes in it.
func (x Indexes) With(more ...int) Indexes {
	if len(more) == 0 {
		return x
	}
	y := make(Indexes, len(more))
	for i, n := range more {
		y[i] = Interval{n, n}
	}
	return x.Union(y)
}

// Union returns what is in x or in y.
func (x Indexes) Union(y Indexes) Indexes {
	return normal(append(slices.Clone(x), y...))
}

// Without returns what is in x and not in y.
func (x Indexes) Without(y Indexes) Indexes {
	var left Indexes
	for _, iv := range x {
		for _, cut := range y {
			if cut.Last < iv.First {
				continue
			}
			if cut.First > iv.Last {
				break
			}
			if cut.First > iv.First {
				left = append(left, Interval{iv.First, cut.First - 1})
			}
			iv.First = cut.Last + 1
		}
		if iv.First <= iv.Last {
			left = append(left, iv)
		}
	}
	return left
}

// first returns the lowest n indexes of the set.
func (x Indexes) first(n int) []int {
	var lowest []int
	for _, iv := range x {
		for i := iv.First; i <= iv.Last && len(lowest) < n; i++ {
			lowest = append(lowest, i)
		}
	}
	return lowest
}
