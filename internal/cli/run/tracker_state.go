package run

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/output"
)

// lastWent is when a deletion in this run was last observed.
func (r *tracker) lastWent() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lastDeletedAt
}

// unended returns the Jobs that have not finished.
func (r *tracker) unended() []*batchv1.Job {
	return r.jobs(func(t *trackedJob) bool { return !t.isOver() })
}

// all returns the Jobs of the run.
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

// fewEnough is up to how many pods a run watches waiting and running pods even if it does not show their logs.
const fewEnough = 1000

// fewPods reports whether the Jobs of this run need at most fewEnough pods.
func (r *tracker) fewPods() bool {
	var pods int64
	for _, job := range r.all() {
		pods += int64(max(ptr.Deref(job.Spec.Parallelism, 1), ptr.Deref(job.Spec.Completions, 1)))
	}
	return pods <= fewEnough
}

// changes returns the Jobs that have changed since the last call, and those that have finished since.
func (r *tracker) changes(now time.Time) (changed []output.Progress, ended []ending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.byUID {
		if !t.updated || t.ended {
			continue
		}
		t.updated = false
		changed = append(changed, t.progress(now))
		if t.isOver() {
			t.ended = true
			ended = append(ended, t.end())
		}
	}
	return changed, ended
}

// progress returns the progress of all unfinished Jobs.
func (r *tracker) progress(now time.Time) (all []output.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.byUID {
		if !t.ended {
			all = append(all, t.progress(now))
		}
	}
	return all
}

// settled reports whether the run is over: the outcome of every Job has been shown and, after Ctrl-C, the deleted Jobs are
// gone.
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

// completed reports whether every Job has completed.
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

// stopping returns the Jobs that the run has deleted and that are not gone yet.
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
