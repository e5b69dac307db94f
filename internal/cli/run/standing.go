package run

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/output"
)

// lastWent is when something of this run was last seen to go.
func (r *tracker) lastWent() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lastDeletedAt
}

// unended are the Jobs that have not ended.
func (r *tracker) unended() []*batchv1.Job {
	return r.jobs(func(t *trackedJob) bool { return !t.isOver() })
}

// all are the Jobs of the run.
func (r *tracker) all() []*batchv1.Job {
	return r.jobs(func(*trackedJob) bool { return true })
}

func (r *tracker) jobs(which func(*trackedJob) bool) []*batchv1.Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	var jobs []*batchv1.Job
	for _, t := range r.byUID {
		if which(t) {
			jobs = append(jobs, t.job)
		}
	}
	return jobs
}

// fewEnough pods are watched while they wait and run, too, for a run that shows no logs of them.
const fewEnough = 1000

// fewPods reports whether the Jobs of this run want few pods.
func (r *tracker) fewPods() bool {
	var pods int64
	for _, job := range r.all() {
		pods += int64(max(ptr.Deref(job.Spec.Parallelism, 1), ptr.Deref(job.Spec.Completions, 1)))
	}
	return pods <= fewEnough
}

// news returns what has changed since it was last asked, and the Jobs that have ended since.
func (r *tracker) news(now time.Time) (tell []output.Progress, ended []ending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.byUID {
		if !t.updated || t.ended {
			continue
		}
		t.updated = false
		tell = append(tell, t.progress(now))
		if t.isOver() {
			t.ended = true
			ended = append(ended, t.end())
		}
	}
	return tell, ended
}

// progress tells how all Jobs stand that have not ended.
func (r *tracker) progress(now time.Time) (tell []output.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.byUID {
		if !t.ended {
			tell = append(tell, t.progress(now))
		}
	}
	return tell
}

// settled reports whether the run is over: every Job has ended and been told of; after an interrupt those that had not
// ended must be gone.
func (r *tracker) settled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.byUID {
		if t.stopping && !t.gone || t.outcome == "" {
			return false
		}
	}
	return true
}

// completed reports whether every Job has.
func (r *tracker) completed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.byUID {
		if t.outcome != output.Complete {
			return false
		}
	}
	return true
}

// stopping are the Jobs that the run has deleted and that have not ended.
func (r *tracker) stopping() []*batchv1.Job {
	return r.jobs(func(t *trackedJob) bool { return t.stopping && !t.isOver() })
}

// isStopping reports whether the run has deleted a Job.
func (r *tracker) isStopping(job types.UID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.byUID[job]
	return t != nil && t.stopping
}
