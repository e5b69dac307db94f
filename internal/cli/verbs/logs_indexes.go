package verbs

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	core "github.com/stint-dev/stint/internal/job"
)

// mostLogs bounds the indexes of one command: each is a request.
const mostLogs = 100_000

// parseIndexes parses completion indexes in the format of status.completedIndexes, such as 17 or 0-3,17.
func parseIndexes(text string, job *batchv1.Job) ([]int64, error) {
	if ptr.Deref(job.Spec.CompletionMode, batchv1.NonIndexedCompletion) != batchv1.IndexedCompletion {
		return nil, fmt.Errorf("job %s has no indexes: leave --index out", job.Name)
	}
	last := int(ptr.Deref(job.Spec.Completions, 1)) - 1
	var indexes []int64
	for part := range strings.SplitSeq(text, ",") {
		interval, ok := core.ParseInterval(strings.TrimSpace(part))
		switch {
		case !ok:
			return nil, fmt.Errorf("--index %s: %q is neither an index nor a range: write numbers from 0 on, such as 17 or 0-3,17", text, part)
		case interval.Last > last:
			return nil, fmt.Errorf("there is no index %d: job %s has indexes 0 to %d", interval.Last, job.Name, last)
		case interval.Last-interval.First+len(indexes) >= mostLogs:
			return nil, fmt.Errorf("--index %s: names more than %d indexes: ask for fewer at a time", text, mostLogs)
		}
		for i := interval.First; i <= interval.Last; i++ {
			indexes = append(indexes, int64(i))
		}
	}
	return indexes, nil
}
