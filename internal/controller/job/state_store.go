package job

import (
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/job"
)

// memory is what the controller must know of a Job between two syncs. Losing it costs writes, nothing else.
type memory struct {
	mu   sync.Mutex
	jobs map[types.UID]*recollection
	// period is Options.SyncBatchPeriod.
	period time.Duration
}

type recollection struct {
	latest loop.Latest[*batchv1.Job]
	// pods is how many mattered in the last sync.
	pods int
	// notBefore is the earliest time for the next sync.
	notBefore time.Time
	pace
	refusals
	foreign
	// batch is how many pods may be created at once; 0 is 1.
	batch int
	// faults are what was told to be wrong with the annotations.
	faults []string
}

func newMemory(period time.Duration) *memory {
	return &memory{jobs: map[types.UID]*recollection{}, period: period}
}

func (m *memory) of(job types.UID) *recollection {
	r := m.jobs[job]
	if r == nil {
		r = &recollection{}
		m.jobs[job] = r
	}
	return r
}

// newest returns the newer of what the informer shows and what was written.
func (m *memory) newest(shown *batchv1.Job) *batchv1.Job {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.of(shown.UID).latest.Newest(shown)
}

// isOwn tells that job is as the controller's last write left it, and so no news.
func (m *memory) isOwn(job *batchv1.Job) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.jobs[job.UID]
	return r != nil && r.latest.Covers(job)
}

func (m *memory) wrote(job *batchv1.Job, now time.Time, patience core.WriteUrgency) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(job.UID)
	r.latest.Learn(job)
	r.foreign.last = job
	r.pace.wrote(now, patience)
}

// postpone tells how much longer a status write that may wait shall do so; 0 is no longer.
func (m *memory) postpone(job types.UID, now time.Time, patience core.WriteUrgency) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(job)
	return max(0, r.pace.due(now, periodFor(m.period, r.pods), patience).Sub(now))
}

// rest ends a sync of job, of so many pods, and lets none start for a while.
func (m *memory) rest(job types.UID, now time.Time, pods int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.jobs[job]; r != nil {
		r.pods = pods
		r.notBefore = now.Add(min(m.period, haste) * time.Duration(min(pods-1, crowd)) / crowd)
	}
}

func (m *memory) restLeft(job types.UID, now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.jobs[job]; r != nil {
		return max(0, r.notBefore.Sub(now))
	}
	return 0
}

// lastForeign takes in what is known of job before a decision. What it returns is for the sync of job alone.
func (m *memory) lastForeign(job *batchv1.Job) *foreign {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(job.UID)
	r.foreign.observe(job)
	return &r.foreign
}

func (m *memory) batchSize(job types.UID) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(1, m.of(job).batch)
}

func (m *memory) setBatchSize(job types.UID, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(job).batch = n
}

func (m *memory) forget(job types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.jobs, job)
}
