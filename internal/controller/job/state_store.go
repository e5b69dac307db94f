package job

import (
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/job"
)

// stateStore is what the controller must know of a Job between two syncs. Losing it costs writes, nothing else.
type stateStore struct {
	mu   sync.Mutex
	jobs map[types.UID]*jobState
	// period is Options.SyncBatchPeriod.
	period time.Duration
}

type jobState struct {
	latest loop.Latest[*batchv1.Job]
	// pods is how many mattered in the last sync.
	pods int
	// nextSyncAt is the earliest time for the next sync.
	nextSyncAt time.Time
	statusPace
	createBackoff
	externalStatus
	// batch is how many pods may be created at once; 0 is 1.
	batch int
	// faults are what was told to be wrong with the annotations.
	faults []string
}

func newStateStore(period time.Duration) *stateStore {
	return &stateStore{jobs: map[types.UID]*jobState{}, period: period}
}

func (m *stateStore) of(job types.UID) *jobState {
	r := m.jobs[job]
	if r == nil {
		r = &jobState{}
		m.jobs[job] = r
	}
	return r
}

// newest returns the newer of what the informer shows and what was written.
func (m *stateStore) newest(shown *batchv1.Job) *batchv1.Job {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of(shown.UID).latest.Newest(shown)
}

// isOwn tells that job is as the controller's last write left it, and so no news.
func (m *stateStore) isOwn(job *batchv1.Job) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.jobs[job.UID]
	return r != nil && r.latest.Covers(job)
}

func (m *stateStore) observeWrite(job *batchv1.Job, now time.Time, patience core.WriteUrgency) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(job.UID)
	r.latest.ObserveWrite(job)
	r.externalStatus.last = job
	r.statusPace.observeWrite(now, patience)
}

// postpone tells how much longer a status write that may wait shall do so; 0 is no longer.
func (m *stateStore) postpone(job types.UID, now time.Time, patience core.WriteUrgency) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(job)
	return max(0, r.statusPace.due(now, periodFor(m.period, r.pods), patience).Sub(now))
}

// startPause ends a sync of job, of so many pods, and lets none start for a while.
func (m *stateStore) startPause(job types.UID, now time.Time, pods int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.jobs[job]; r != nil {
		r.pods = pods
		r.nextSyncAt = now.Add(min(m.period, minStatusDelay) * time.Duration(min(pods-1, largeJobPods)) / largeJobPods)
	}
}

func (m *stateStore) pauseLeft(job types.UID, now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.jobs[job]; r != nil {
		return max(0, r.nextSyncAt.Sub(now))
	}
	return 0
}

// lastExternalStatus takes in what is known of job before a decision. What it returns is for the sync of job alone.
func (m *stateStore) lastExternalStatus(job *batchv1.Job) *externalStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(job.UID)
	r.externalStatus.observe(job)
	return &r.externalStatus
}

func (m *stateStore) batchSize(job types.UID) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(1, m.of(job).batch)
}

func (m *stateStore) setBatchSize(job types.UID, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(job).batch = n
}

func (m *stateStore) forget(job types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.jobs, job)
}
