package job

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
)

// EndedBefore reports whether job had finished before next was created. If so, job waited for an earlier Job with the name
// of next.
func EndedBefore(job, next *batchv1.Job) bool {
	end := End(job)
	return end != nil && end.LastTransitionTime.Before(&next.CreationTimestamp)
}

// maxCycleSearch bounds how many Jobs the search for a cycle visits.
const maxCycleSearch = 10_000

// Cycle returns a shortest cycle of Jobs by which the Job name waits for itself, with its name first and last; nil if there
// is none. awaits returns the names of the Jobs that a Job waits for.
func Cycle(name string, awaits func(name string) []string) []string {
	// cameFrom is, by the name of each Job reached, the Job that waits for it.
	cameFrom := map[string]string{}
	reached := []string{name}
	for at := 0; at < len(reached) && at < maxCycleSearch; at++ {
		for _, next := range awaits(reached[at]) {
			if next == name {
				return pathBack(name, reached[at], cameFrom)
			}
			if _, known := cameFrom[next]; !known {
				cameFrom[next] = reached[at]
				reached = append(reached, next)
			}
		}
	}
	return nil
}

func pathBack(name, last string, cameFrom map[string]string) []string {
	way := []string{name}
	for at := last; at != name; at = cameFrom[at] {
		way = append(way, at)
	}
	way = append(way, name)
	slices.Reverse(way)
	return way
}
