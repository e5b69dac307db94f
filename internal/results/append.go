package results

import (
	"slices"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// Limits bound a slice, so that adding to it costs little however many results the Job has.
type Limits struct {
	// Entries is how many results a slice holds.
	Entries int
	// Message is how long a message may be, and Messages all those of a slice together, in bytes.
	Message, Messages int
}

// DefaultLimits keep a slice below some 100 KiB.
func DefaultLimits() Limits { return Limits{Entries: 100, Message: 1024, Messages: 64 << 10} }

// Append adds results to a slice until it is full and returns those for which there is no room. A result of a pod that is
// in the slice already replaces the older one in place if it supersedes it. An empty slice has room for at least one.
func Append(slice *stintv1.ResultSlice, more []stintv1.PodResult, limits Limits) (rest []stintv1.PodResult) {
	room := limits.Messages
	at := map[string]int{}
	for i := range slice.Results {
		at[string(slice.Results[i].UID)] = i
		room -= len(slice.Results[i].Message)
	}
	for n := range more {
		r := bounded(more[n], limits.Message)
		if i, found := at[string(r.UID)]; found {
			was := &slice.Results[i]
			room += len(was.Message)
			r.Message = cut(r.Message, max(room, 0))
			if supersedes(&r, was) {
				*was = r
			}
			room -= len(was.Message)
			continue
		}
		full := len(slice.Results) >= limits.Entries || len(r.Message) > room
		if full && len(slice.Results) > 0 {
			rest = append(rest, more[n])
			continue
		}
		r.Message = cut(r.Message, max(room, 0))
		at[string(r.UID)] = len(slice.Results)
		slice.Results = append(slice.Results, r)
		room -= len(r.Message)
	}
	return slices.Clip(rest)
}

// bounded returns r with its texts cut to the lengths that may be stored: nodes may report longer ones.
func bounded(r stintv1.PodResult, message int) stintv1.PodResult {
	r.Message = cut(r.Message, min(message, stintv1.MaxResultMessage))
	for _, s := range []*string{&r.Pod, &r.Node, &r.Container, &r.Reason} {
		*s = cut(*s, stintv1.MaxResultName)
	}
	return r
}
