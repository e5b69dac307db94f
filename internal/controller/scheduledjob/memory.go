package scheduledjob

import (
	"maps"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/controller/loop"
)

// memory is what the controller must know of a ScheduledJob between two syncs. A process that starts without it reads
// the ScheduledJob live instead.
type memory struct {
	mu            sync.Mutex
	scheduledJobs map[types.NamespacedName]*recollection
}

type recollection struct {
	uid    types.UID
	latest loop.Latest[*stintv1.ScheduledJob]
	// unshown are names of Jobs that were created, or may have been: the informer shows them later.
	unshown map[string]bool
	// sightings are the Jobs that were made, or that the server was asked for, by UID: older news of them come later.
	sightings map[types.UID]sighting
	// ends is when Jobs were first seen to have ended whose pods are not all known.
	ends map[types.UID]time.Time
}

// sighting is what the server has answered about a Job. Nil: it is gone.
type sighting struct {
	job *batchv1.Job
	at  time.Time
}

const (
	// trust is how long a Job is taken to be there that the informer does not show.
	trust = 10 * time.Second
	// lag is how far behind an informer may be; what is older is forgotten.
	lag = 10 * time.Minute
)

func newMemory() *memory { return &memory{scheduledJobs: map[types.NamespacedName]*recollection{}} }

// on lets do work with what is known of sj.
func (m *memory) on(sj *stintv1.ScheduledJob, do func(*recollection)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.scheduledJobs[loop.Key(sj)]
	if r == nil || r.uid != sj.UID {
		r = &recollection{uid: sj.UID, unshown: map[string]bool{}, sightings: map[types.UID]sighting{}, ends: map[types.UID]time.Time{}}
		m.scheduledJobs[loop.Key(sj)] = r
	}
	do(r)
}

// newest returns the newer of what the informer shows and what is known.
func (m *memory) newest(shown *stintv1.ScheduledJob) (newest *stintv1.ScheduledJob, confirmed bool) {
	m.on(shown, func(r *recollection) { newest, confirmed = r.latest.Newest(shown), r.latest.Confirmed })
	return newest, confirmed
}

// learn takes in what the server has answered.
func (m *memory) learn(sj *stintv1.ScheduledJob) {
	m.on(sj, func(r *recollection) { r.latest.Learn(sj) })
}

// doubt notes that a write may have happened: nobody knows which version is the newest.
func (m *memory) doubt(sj *stintv1.ScheduledJob) {
	m.on(sj, func(r *recollection) { r.latest.Confirmed = false })
}

// isOwn tells that sj is as the controller's last write or read left it, and so no news.
func (m *memory) isOwn(sj *stintv1.ScheduledJob) (own bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.scheduledJobs[loop.Key(sj)]
	return r != nil && r.uid == sj.UID && r.latest.Covers(sj)
}

// expect notes a Job that is there, or may be.
func (m *memory) expect(sj *stintv1.ScheduledJob, job string) {
	m.on(sj, func(r *recollection) { r.unshown[job] = true })
}

// expects tells whether a Job is awaited.
func (m *memory) expects(sj types.NamespacedName, job string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.scheduledJobs[sj]
	return r != nil && r.unshown[job]
}

// settle notes that a Job is shown, or is known not to be there.
func (m *memory) settle(sj *stintv1.ScheduledJob, job string) {
	m.on(sj, func(r *recollection) { delete(r.unshown, job) })
}

// expected returns the Jobs that the informer may not show yet.
func (m *memory) expected(sj *stintv1.ScheduledJob) (names []string) {
	m.on(sj, func(r *recollection) { names = slices.Sorted(maps.Keys(r.unshown)) })
	return names
}

// sight notes what the server has under the UID of a Job; nil if nothing.
func (m *memory) sight(sj *stintv1.ScheduledJob, uid types.UID, job *batchv1.Job) {
	m.on(sj, func(r *recollection) { r.sightings[uid] = sighting{job, time.Now()} })
}

// newestJobs replaces Jobs that are shown older than they are known, and adds those that were there a moment ago and are
// not shown yet.
func (m *memory) newestJobs(sj *stintv1.ScheduledJob, shown []*batchv1.Job) (newest []*batchv1.Job, early bool) {
	m.on(sj, func(r *recollection) {
		maps.DeleteFunc(r.sightings, func(_ types.UID, s sighting) bool { return time.Since(s.at) > lag })
		seen := map[types.UID]bool{}
		for _, job := range shown {
			seen[job.UID] = true
			known, sighted := r.sightings[job.UID]
			switch {
			case !sighted:
				newest = append(newest, job)
			case known.job == nil:
			case loop.Older(job, known.job):
				newest = append(newest, known.job)
			default:
				delete(r.sightings, job.UID)
				newest = append(newest, job)
			}
		}
		for uid, s := range r.sightings {
			if s.job != nil && !seen[uid] && time.Since(s.at) < trust {
				newest, early = append(newest, s.job), true
			}
		}
	})
	return newest, early
}

// gone notes that the informer has shown the end of a Job.
func (m *memory) gone(sj types.NamespacedName, job types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.scheduledJobs[sj]; r != nil {
		delete(r.sightings, job)
	}
}

// endedAt is when the end of a Job was seen first.
func (m *memory) endedAt(sj *stintv1.ScheduledJob, job types.UID, now time.Time) (at time.Time) {
	m.on(sj, func(r *recollection) {
		if r.ends[job].IsZero() {
			r.ends[job] = now
		}
		at = r.ends[job]
	})
	return at
}

// told notes that the end of a Job is in the status.
func (m *memory) told(sj *stintv1.ScheduledJob, job types.UID) {
	m.on(sj, func(r *recollection) { delete(r.ends, job) })
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.scheduledJobs, key)
}
