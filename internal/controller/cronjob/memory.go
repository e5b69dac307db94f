package cronjob

import (
	"maps"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/cronjob"
)

// memory is what the controller must know of a CronJob between two syncs. Losing it costs reads, nothing else, and
// that the times before a change of the schedule count as if they had been due by the new one.
type memory struct {
	mu       sync.Mutex
	cronJobs map[types.NamespacedName]*recollection
	// deleted holds the UIDs of the latest Jobs that the controller has deleted: the informer may show them still, or
	// only now. A UID never comes back.
	deleted *lru.Cache
}

// remembered bounds what is kept about Jobs that were deleted.
const remembered = 4096

type recollection struct {
	uid    types.UID
	latest loop.Latest[*batchv1.CronJob]
	// told is the timetable that the handlers were told of last, nil if of none, and scheduleSince is when that changed.
	told          *timetable
	scheduleSince time.Time
	// jobs are those that were written, by name, until the informer shows it; nil where nobody knows whether one was created.
	jobs map[string]*batchv1.Job
	// events are those of the last decision, so that what lasts is told once.
	events []core.Event
}

// timetable is what makes times due.
type timetable struct{ schedule, zone string }

func timetableOf(cj *batchv1.CronJob) timetable {
	return timetable{cj.Spec.Schedule, ptr.Deref(cj.Spec.TimeZone, "")}
}

func newMemory() *memory {
	return &memory{cronJobs: map[types.NamespacedName]*recollection{}, deleted: lru.New(remembered)}
}

// on lets do work with what is known of cj.
func (m *memory) on(cj *batchv1.CronJob, do func(*recollection)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.cronJobs[loop.Key(cj)]
	if r == nil || r.uid != cj.UID {
		r = &recollection{uid: cj.UID, jobs: map[string]*batchv1.Job{}}
		m.cronJobs[loop.Key(cj)] = r
	}
	do(r)
}

// newest returns the newer of what the informer shows and what is known.
func (m *memory) newest(shown *batchv1.CronJob) (newest *batchv1.CronJob, confirmed bool) {
	m.on(shown, func(r *recollection) { newest, confirmed = r.latest.Newest(shown), r.latest.Confirmed })
	return newest, confirmed
}

// learn takes in what the server has answered.
func (m *memory) learn(cj *batchv1.CronJob) {
	m.on(cj, func(r *recollection) { r.latest.Learn(cj) })
}

// doubt notes that a write may have happened: nobody knows which version is the newest.
func (m *memory) doubt(cj *batchv1.CronJob) {
	m.on(cj, func(r *recollection) { r.latest.Confirmed = false })
}

// isOwn tells that cj is as the controller's last write or read left it, and so no news.
func (m *memory) isOwn(cj *batchv1.CronJob) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.cronJobs[loop.Key(cj)]
	return r != nil && r.uid == cj.UID && r.latest.Covers(cj)
}

// tell takes in what the handlers are told, and returns whether that is another timetable. A change during a suspension
// has no time: what was missed then counts by the schedule that is resumed, as it would after a restart of the controller.
func (m *memory) tell(was, is *batchv1.CronJob) (changed bool) {
	told := timetableOf(is)
	changed = was != nil && timetableOf(was) != told
	m.on(is, func(r *recollection) {
		if changed && !ptr.Deref(is.Spec.Suspend, false) {
			r.scheduleSince = time.Now()
		}
		r.told = &told
	})
	return changed
}

// scheduleSince returns since when the timetable of cj is in force; zero if it was not seen to change. The informer may
// show, and the server answer, one that the handlers are not told of yet: until they are, that has just begun.
func (m *memory) scheduleSince(cj *batchv1.CronJob) (since time.Time) {
	m.on(cj, func(r *recollection) {
		since = r.scheduleSince
		if r.told != nil && *r.told != timetableOf(cj) {
			since = time.Now()
		}
	})
	return since
}

// wrote notes what a write has made of a Job of cj.
func (m *memory) wrote(cj *batchv1.CronJob, name string, job *batchv1.Job) {
	m.on(cj, func(r *recollection) { r.jobs[name] = job })
}

// isDeleted tells that the controller has deleted the Job of that UID.
func (m *memory) isDeleted(uid types.UID) bool {
	_, deleted := m.deleted.Get(uid)
	return deleted
}

// settle notes that the informer shows a Job as it is, or that it is not there.
func (m *memory) settle(cj *batchv1.CronJob, name string) {
	m.on(cj, func(r *recollection) { delete(r.jobs, name) })
}

func (m *memory) written(cj *batchv1.CronJob) (jobs map[string]*batchv1.Job) {
	m.on(cj, func(r *recollection) { jobs = maps.Clone(r.jobs) })
	return jobs
}

// news returns the events that the last decision did not have.
func (m *memory) news(cj *batchv1.CronJob, events []core.Event) (news []core.Event) {
	m.on(cj, func(r *recollection) {
		for _, e := range events {
			if !slices.Contains(r.events, e) {
				news = append(news, e)
			}
		}
		r.events = events
	})
	return news
}

func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.cronJobs, key)
}
