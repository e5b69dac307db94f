package job

import "time"

// jobState is what the controller keeps of a Job between two syncs. Losing it costs writes, nothing else.
type jobState struct {
	// pods is how many mattered in the last sync.
	pods int
	// nextSyncAt is the earliest time for the next sync.
	nextSyncAt time.Time
	statusPace
	createBackoff
	externalStatus
	// batch is how many pods may be created at once; 0 is 1.
	batch int
	// faults are those of the annotations that have had an event.
	faults []string
}

// startPause delays the next sync, after one of so many pods that ended now.
func (s *jobState) startPause(now time.Time, period time.Duration, pods int) {
	s.pods = pods
	s.nextSyncAt = now.Add(min(period, minStatusDelay) * time.Duration(min(pods-1, largeJobPods)) / largeJobPods)
}
