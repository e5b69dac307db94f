package job

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
)

// EndedBefore tells that job had ended when next was made: whatever it waited for was another Job of that name.
func EndedBefore(job, next *batchv1.Job) bool {
	end := End(job)
	return end != nil && end.LastTransitionTime.Before(&next.CreationTimestamp)
}

// maxCycleSearch bounds how many Jobs are looked at in search of a cycle.
const maxCycleSearch = 10_000

// Cycle returns a shortest way on which the Job name would wait for itself, with its name first and last; nil if there is
// none. Awaits tells whom a Job waits for.
func Cycle(name string, awaits func(name string) []string) []string {
	// cameFrom is the Job that waits for each of those reached.
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
