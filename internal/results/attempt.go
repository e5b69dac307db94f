package results

import (
	"slices"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// Attempt returns the pod of attempt n at the work of r, counted from 1 as Attempts counts, and how often the pod's
// containers had been started before.
func Attempt(r *stintv1.JobResult, n int32) (pod *stintv1.PodResult, restart int32, ok bool) {
	for i := range r.Earlier {
		if restart, ok := within(&r.Earlier[i], &n); ok {
			return &r.Earlier[i], restart, true
		}
	}
	if restart, ok := within(&r.PodResult, &n); ok {
		return &r.PodResult, restart, true
	}
	return nil, 0, false
}

// within returns which start of the pod attempt n is, counted from 0, or else subtracts the pod's starts from n.
func within(p *stintv1.PodResult, n *int32) (restart int32, ok bool) {
	begun := AttemptsOf(p)
	if *n >= 1 && *n <= begun {
		return *n - 1, true
	}
	*n -= begun
	return 0, false
}

// AttemptsOf is how often the containers of a pod were started.
func AttemptsOf(p *stintv1.PodResult) int32 {
	if p.StartedAt == nil && p.Restarts == 0 {
		return 0
	}
	return p.Restarts + 1
}

// SequentialAttempts returns items as attempts at one piece of work. It is for Jobs without indexes that run one pod at a
// time.
func SequentialAttempts(items []stintv1.JobResult) stintv1.JobResult {
	var out stintv1.JobResult
	for i, item := range items {
		out.Attempts += item.Attempts
		out.Earlier = append(out.Earlier, item.Earlier...)
		if i < len(items)-1 {
			out.Earlier = append(out.Earlier, item.PodResult)
		} else {
			out.PodResult = item.PodResult
		}
	}
	return out
}

// OfPod returns the result of the pod with this name alone; nil if there is none.
func OfPod(items []stintv1.JobResult, name string) *stintv1.JobResult {
	for i := range items {
		for _, p := range slices.Concat(items[i].Earlier, []stintv1.PodResult{items[i].PodResult}) {
			if p.Pod == name {
				return &stintv1.JobResult{PodResult: p, Attempts: AttemptsOf(&p)}
			}
		}
	}
	return nil
}
