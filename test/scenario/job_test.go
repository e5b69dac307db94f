package scenario_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
)

// job is a handle on a Job of the scene.
type job struct {
	*scene
	name string
	uid  types.UID
}

// now is the Job's newest state that the history shows.
func (j *job) now() *batchv1.Job {
	j.Helper()
	var now *batchv1.Job
	j.eventually(func(h *history) string {
		if now = h.job(j.uid); now == nil {
			return "Job " + j.name + " to be there"
		}
		return ""
	})
	return now
}

// becomes waits until all checks hold at the same time.
func (j *job) becomes(checks ...check) *batchv1.Job {
	j.Helper()
	var now *batchv1.Job
	j.eventually(func(h *history) string {
		if now = h.job(j.uid); now == nil {
			return "Job " + j.name + ", which is gone"
		}
		if failed := failing(now, checks); failed != "" {
			return fmt.Sprintf("Job %s: %s\n\tit is %s", j.name, failed, describeStatus(now))
		}
		return ""
	})
	return now
}

// stays waits until the controller has dealt with all that happened; the checks hold now, then, and at any time between.
func (j *job) stays(checks ...check) {
	j.Helper()
	j.becomes(checks...)
	j.history.mu.Lock()
	from := len(j.history.changes)
	j.history.mu.Unlock()
	j.settle()
	j.history.mu.Lock()
	defer j.history.mu.Unlock()
	for _, c := range j.history.changes[from:] {
		if now, is := c.object.(*batchv1.Job); is && now.UID == j.uid && !c.deleted {
			if failed := failing(now, checks); failed != "" {
				j.Fatalf("Job %s should have stayed as it was: %s\n\tit became %s", j.name, failed, describeStatus(now))
			}
		}
	}
}

// tells waits until the events about the Job have exactly these reasons in this order; repetitions in a row are one.
// An entry "Reason: text" asks for the last message as well.
func (j *job) tells(want ...string) {
	j.Helper()
	if j.losesEvents {
		return
	}
	j.eventually(func(h *history) string {
		got := reasons(h.events(j.uid), want)
		if slices.Equal(got, want) {
			return ""
		}
		return fmt.Sprintf("the events of Job %s (- want, + got):\n%s", j.name, cmp.Diff(want, got))
	})
}

func reasons(events []*corev1.Event, want []string) []string {
	var got []string
	last := ""
	for _, e := range events {
		if e.Reason != last {
			got = append(got, e.Reason)
		}
		last = e.Reason
		n := len(got) - 1
		if n < len(want) && strings.Contains(want[n], ": ") {
			got[n] = e.Reason + ": " + e.Message
		}
	}
	return got
}

// update changes the Job as its owner does.
func (j *job) update(change func(*batchv1.Job)) *job {
	j.Helper()
	return j.write(change, func(o *batchv1.Job) (*batchv1.Job, error) {
		return j.api.BatchV1().Jobs(j.namespace).Update(j.Context(), o, metav1.UpdateOptions{})
	})
}

// updateStatus changes the Job's status behind the controller's back.
func (j *job) updateStatus(change func(*batchv1.Job)) *job {
	j.Helper()
	return j.write(change, func(o *batchv1.Job) (*batchv1.Job, error) {
		return j.api.BatchV1().Jobs(j.namespace).UpdateStatus(j.Context(), o, metav1.UpdateOptions{})
	})
}

func (j *job) write(change func(*batchv1.Job), write func(*batchv1.Job) (*batchv1.Job, error)) *job {
	j.Helper()
	var written *batchv1.Job
	j.must(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		o, err := j.api.BatchV1().Jobs(j.namespace).Get(j.Context(), j.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(o)
		written, err = write(o)
		return err
	}))
	j.sees(written)
	return j
}

func (j *job) scale(parallelism int32) { j.Helper(); j.update(workers(parallelism)) }

func (j *job) suspend() { j.Helper(); j.update(suspended) }

func (j *job) resume() {
	j.Helper()
	j.update(func(o *batchv1.Job) { o.Spec.Suspend = ptr.To(false) })
}

// delete deletes the Job; what is still in its way may keep it for a while.
func (j *job) delete(propagation metav1.DeletionPropagation) {
	j.Helper()
	j.must(j.api.BatchV1().Jobs(j.namespace).Delete(j.Context(), j.name, metav1.DeleteOptions{
		PropagationPolicy: &propagation, Preconditions: &metav1.Preconditions{UID: &j.uid},
	}))
	j.eventually(func(h *history) string {
		if o := h.job(j.uid); o != nil && o.DeletionTimestamp == nil {
			return "the deletion of Job " + j.name + " to be seen"
		}
		return ""
	})
}

// gone waits until the Job does not exist any more.
func (j *job) gone() {
	j.Helper()
	j.eventually(func(h *history) string {
		if o := h.job(j.uid); o != nil {
			return "Job " + j.name + " to go"
		}
		return ""
	})
}

// active waits until the Job has exactly n pods that have neither ended nor been told to.
func (j *job) active(n int) podList {
	j.Helper()
	return j.podsThat("are active", n, alive)
}

// terminating waits until the Job has exactly n pods that have been told to end and have not.
func (j *job) terminating(n int) podList {
	j.Helper()
	return j.podsThat("are terminating", n, func(p *corev1.Pod) bool { return !ended(p) && p.DeletionTimestamp != nil })
}

// ended waits until the Job has exactly n pods that are still there after their end, released by the controller.
func (j *job) ended(n int) podList {
	j.Helper()
	return j.podsThat("have ended and were released", n, func(p *corev1.Pod) bool { return ended(p) && !hasFinalizer(p) })
}

// podsThat waits until the Job controls exactly n pods that the filter lets through.
func (j *job) podsThat(do string, n int, filter func(*corev1.Pod) bool) podList {
	j.Helper()
	var list podList
	j.eventually(func(h *history) string {
		all := h.pods(func(p *corev1.Pod) bool { return ownedBy(p, j.uid) })
		list = nil
		for _, p := range all {
			if filter(p) {
				list = append(list, pod{p, j.scene})
			}
		}
		if len(list) == n {
			return ""
		}
		return fmt.Sprintf("%d pods of Job %s that %s; there are%s", n, j.name, do, describe(all))
	})
	return list
}

func ownedBy(p *corev1.Pod, uid types.UID) bool {
	ref := metav1.GetControllerOfNoCopy(p)
	return ref != nil && ref.UID == uid
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func hasFinalizer(p *corev1.Pod) bool {
	return slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer)
}

// tellsOf waits until there is an event about the Job for this reason.
func (j *job) tellsOf(reason string) {
	j.Helper()
	j.eventually(func(h *history) string {
		if slices.ContainsFunc(h.events(j.uid), func(e *corev1.Event) bool { return e.Reason == reason }) {
			return ""
		}
		return "an event " + reason + " about Job " + j.name
	})
}
