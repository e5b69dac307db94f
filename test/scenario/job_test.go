package scenario_test

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// job is a handle on a Job of the scene.
type job struct{ object[*batchv1.Job] }

func (s *scene) handle(o *batchv1.Job) *job {
	return &job{object[*batchv1.Job]{
		subject: subject{s, "Job", o.Name, o.UID}, stored: s.api.BatchV1().Jobs(s.namespace), describe: describeStatus, settles: s.settle,
	}}
}

func (j *job) scale(parallelism int32) { j.Helper(); j.update(workers(parallelism)) }

func (j *job) suspend() { j.Helper(); j.update(suspended) }

func (j *job) resume() {
	j.Helper()
	j.update(func(o *batchv1.Job) { o.Spec.Suspend = ptr.To(false) })
}

// active waits until the Job has exactly n pods that have neither ended nor been deleted.
func (j *job) active(n int) podList {
	j.Helper()
	return j.podsThat("are active", n, alive)
}

// terminating waits until the Job has exactly n pods that have been deleted and have not ended.
func (j *job) terminating(n int) podList {
	j.Helper()
	return j.podsThat("are terminating", n, func(p *corev1.Pod) bool { return !ended(p) && p.DeletionTimestamp != nil })
}

// ended waits until the Job has exactly n pods that have ended, still exist, and have no tracking finalizer any more.
func (j *job) ended(n int) podList {
	j.Helper()
	return j.podsThat("have ended and have no finalizer", n, func(p *corev1.Pod) bool { return ended(p) && !hasFinalizer(p) })
}

// podsThat waits until the Job controls exactly n pods that the filter lets through.
func (j *job) podsThat(do string, n int, filter func(*corev1.Pod) bool) podList {
	j.Helper()
	j.catchUp()
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
