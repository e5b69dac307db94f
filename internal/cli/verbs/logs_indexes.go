package verbs

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// parseIndexes reads completion indexes as status.completedIndexes has them, such as 17 or 0-3,17.
func parseIndexes(text string, job *batchv1.Job) ([]int64, error) {
	if ptr.Deref(job.Spec.CompletionMode, batchv1.NonIndexedCompletion) != batchv1.IndexedCompletion {
		return nil, fmt.Errorf("job %s has no indexes: leave --index out", job.Name)
	}
	last := int64(ptr.Deref(job.Spec.Completions, 1)) - 1
	var indexes []int64
	for part := range strings.SplitSeq(text, ",") {
		first, end, err := parseInterval(part)
		if err != nil {
			return nil, fmt.Errorf("--index %s: %w", text, err)
		}
		if first > last || end > last {
			return nil, fmt.Errorf("there is no index %d: job %s has indexes 0 to %d", max(first, end), job.Name, last)
		}
		for i := first; i <= end; i++ {
			indexes = append(indexes, i)
		}
	}
	return indexes, nil
}

func parseInterval(part string) (first, last int64, err error) {
	from, to, isInterval := strings.Cut(strings.TrimSpace(part), "-")
	if !isInterval {
		to = from
	}
	if first, err = parseIndex(from); err == nil {
		last, err = parseIndex(to)
	}
	if err == nil && first > last {
		err = fmt.Errorf("%d comes after %d: write the lower one first", first, last)
	}
	return first, last, err
}

func parseIndex(text string) (int64, error) {
	i, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || i < 0 || i > math.MaxInt32 {
		return 0, fmt.Errorf("%q is no index: write numbers from 0 on, such as 17 or 0-3,17", text)
	}
	return i, nil
}
