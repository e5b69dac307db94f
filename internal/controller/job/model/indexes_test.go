package model_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// formatIndexes formats indexes as the API documents it: "1,3-5".
func formatIndexes(list []int) string {
	list = slices.Sorted(slices.Values(list))
	var parts []string
	for from := 0; from < len(list); {
		to := from
		for to+1 < len(list) && list[to+1] == list[to]+1 {
			to++
		}
		switch to - from {
		case 0:
			parts = append(parts, strconv.Itoa(list[from]))
		case 1:
			parts = append(parts, fmt.Sprintf("%d,%d", list[from], list[to]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", list[from], list[to]))
		}
		from = to + 1
	}
	return strings.Join(parts, ",")
}

// indexSet parses that format.
func indexSet(s string) map[int]bool {
	set := map[int]bool{}
	if s == "" {
		return set
	}
	for part := range strings.SplitSeq(s, ",") {
		from, to, ranged := strings.Cut(part, "-")
		first, _ := strconv.Atoi(from)
		last := first
		if ranged {
			last, _ = strconv.Atoi(to)
		}
		for i := first; i <= last; i++ {
			set[i] = true
		}
	}
	return set
}

// indexOf returns the index of a pod, or -1.
func indexOf(p *corev1.Pod) int {
	i, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return -1
	}
	return i
}
