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

// tracker knows how the Jobs of a run stand, and their pods. What is asked of it and what it is told may come from any
// goroutine.
type tracker struct {
	mu    sync.Mutex
	byUID map[types.UID]*trackedJob
	// lastDeletedAt is when something of this run was last seen to go.
	lastDeletedAt time.Time
	// changed gets a value when a Job has changed.
	changed chan struct{}
}

func newTracker() *tracker {
	return &tracker{byUID: map[types.UID]*trackedJob{}, changed: make(chan struct{}, 1)}
}

// add has a Job be one of the run.
func (r *tracker) add(t *trackedJob) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byUID[t.job.UID] = t
}

// dropFollowed forgets the Jobs that were there before the run.
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

// objectState is what has become of an object.
type objectState int

const (
	present objectState = iota
	// deleted: what is known is how it was then.
	deleted
	// deletedUnseen: it was deleted while it was not watched.
	deletedUnseen
)

// seen takes in a new state of a Job, of this run or not.
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

// seenPod takes in a new state of a pod. It reports whether the pod is of this run, and whether it is news that it failed.
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
	// What an interrupt ends has not failed.
	stopped := t.stopping && pod.DeletionTimestamp != nil
	if stopped || pod.Status.Phase != corev1.PodFailed || t.failedPods[pod.UID] {
		return true, false
	}
	t.failedPods[pod.UID] = true
	t.failure = podFailure(t.ref, pod).Phrase()
	return true, true
}

// conclude notes how a Job has ended, once the user knows.
func (r *tracker) conclude(job types.UID, outcome output.Outcome) {
	r.mu.Lock()
	if t := r.byUID[job]; t != nil {
		t.outcome = outcome
	}
	r.mu.Unlock()
	r.wake()
}

// stop marks the Jobs that have not ended as those that the run has deleted, and returns them.
func (r *tracker) stop() []*batchv1.Job {
	return r.jobs(func(t *trackedJob) bool {
		t.stopping = !t.isOver()
		return t.stopping
	})
}
