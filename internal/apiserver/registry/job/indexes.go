package job

import (
	"fmt"
	"strconv"
	"strings"
)

// indexInterval is the indexes from first to last, both inclusive; first ≤ last.
type indexInterval struct{ first, last int }

// indexIntervals is a set of indexes, in the API written as "1,3-5,7".
type indexIntervals []indexInterval

// parseIndexes parses a set of indexes below completions: intervals in ascending order that do not overlap.
// An empty text is an empty set.
func parseIndexes(text string, completions int32) (indexIntervals, error) {
	if text == "" {
		return nil, nil
	}
	var set indexIntervals
	for part := range strings.SplitSeq(text, ",") {
		interval, err := parseIndexInterval(part, completions)
		if err != nil {
			return nil, err
		}
		if len(set) > 0 && set[len(set)-1].last >= interval.first {
			return nil, fmt.Errorf("must be in ascending order without repetition: %d follows %d",
				interval.first, set[len(set)-1].last)
		}
		set = append(set, interval)
	}
	return set, nil
}

func parseIndexInterval(part string, completions int32) (indexInterval, error) {
	from, to, isRange := strings.Cut(part, "-")
	first, err := parseIndex(from, completions)
	if err != nil {
		return indexInterval{}, fmt.Errorf("%q: %w", part, err)
	}
	if !isRange {
		return indexInterval{first, first}, nil
	}
	last, err := parseIndex(to, completions)
	if err != nil {
		return indexInterval{}, fmt.Errorf("%q: %w", part, err)
	}
	if first >= last {
		return indexInterval{}, fmt.Errorf("%q: the first index must be less than the last", part)
	}
	return indexInterval{first, last}, nil
}

func parseIndex(text string, completions int32) (int, error) {
	index, err := strconv.Atoi(text)
	switch {
	case err != nil || index < 0:
		return 0, fmt.Errorf("%q is no index; write intervals of decimal numbers, such as 1,3-5,7", text)
	case index >= int(completions):
		return 0, fmt.Errorf("index %d is too large: completions are %d, so the last index is %d", index, completions, completions-1)
	}
	return index, nil
}

// count returns the number of indexes in the set.
func (s indexIntervals) count() int32 {
	n := 0
	for _, interval := range s {
		n += interval.last - interval.first + 1
	}
	return int32(n)
}

// commonIndex returns the smallest index that is in both sets. It may miss one if a set is not in ascending order.
func commonIndex(a, b indexIntervals) (int, bool) {
	for len(a) > 0 && len(b) > 0 {
		if from := max(a[0].first, b[0].first); from <= min(a[0].last, b[0].last) {
			return from, true
		}
		if a[0].first <= b[0].first {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return 0, false
}

// readableIndexes returns the valid intervals of text, in the order of the text. It is for rules about a text that another
// rule validates, or that was valid before the Job was scaled down.
func readableIndexes(text string, completions int32) indexIntervals {
	var set indexIntervals
	for part := range strings.SplitSeq(text, ",") {
		if interval, err := parseIndexInterval(part, completions); err == nil {
			set = append(set, interval)
		}
	}
	return set
}
