package run

import (
	"maps"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/cli/output"
)

// tracker has the observed state of the Jobs of a run and their pods. Its methods may be called from any goroutine.
type tracker struct {
	mu    sync.Mutex
	byUID map[types.UID]*trackedJob
	// lastDeletedAt is when a deletion in this run was last observed.
	lastDeletedAt time.Time
	// changed gets a value when a Job has changed.
	changed chan struct{}
}

func newTracker() *tracker {
	return &tracker{byUID: map[types.UID]*trackedJob{}, changed: make(chan struct{}, 1)}
}

// add adds a Job to the run.
func (r *tracker) add(t *trackedJob) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byUID[t.job.UID] = t
}

// dropFollowed removes the Jobs that existed before the run.
func (r *tracker) dropFollowed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.byUID, func(_ types.UID, t *trackedJob) bool { return t.how == output.Followed })
}

func (r *tracker) wake() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// objectState says whether an object exists.
type objectState int

const (
	present objectState = iota
	// deleted means that the last version has been observed.
	deleted
	// deletedUnseen means that it was deleted while it was not watched, so that later versions may have been missed.
	deletedUnseen
)

// seen observes a Job. It ignores Jobs of other runs.
func (r *tracker) seen(job *batchv1.Job, now objectState) {
	r.mu.Lock()
	t, ours := r.byUID[job.UID]
	if ours && (now != present || job.Status.Active < t.job.Status.Active) {
		r.lastDeletedAt = time.Now()
	}
	if ours && !t.gone {
		t.job, t.gone, t.unseen, t.updated = job, now != present, now == deletedUnseen, true
	}
	r.mu.Unlock()
	if ours {
		r.wake()
	}
}

// seenPod observes a pod. It reports whether the pod belongs to this run, and whether it is observed as failed for the first
// time.
func (r *tracker) seenPod(pod *corev1.Pod, gone bool) (ours, failed bool) {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return false, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t, ours := r.byUID[owner.UID]
	if !ours {
		return false, false
	}
	t.waitingPods.observe(pod, gone)
	if gone {
		r.lastDeletedAt = time.Now()
	}
	// A pod that Ctrl-C deletes does not count as failed.
	stopped := t.stopping && pod.DeletionTimestamp != nil
	if stopped || pod.Status.Phase != corev1.PodFailed || t.failedPods[pod.UID] {
		return true, false
	}
	t.failedPods[pod.UID] = true
	t.failure = podFailure(t.ref, pod).Phrase()
	return true, true
}

// conclude records the outcome of a Job, once it has been shown.
func (r *tracker) conclude(job types.UID, outcome output.Outcome) {
	r.mu.Lock()
	if t := r.byUID[job]; t != nil {
		t.outcome = outcome
	}
	r.mu.Unlock()
	r.wake()
}

// stop marks the unfinished Jobs as deleted by the run, and returns them.
func (r *tracker) stop() []*batchv1.Job {
	return r.jobs(func(t *trackedJob) bool {
		t.stopping = !t.isOver()
		return t.stopping
	})
}
