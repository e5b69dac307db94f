package model_test

import (
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/test/simulated"
)

// The annotations of Jobs, as docs/ describes them.
const (
	backoffSeconds        = "stint.dev/backoff-seconds"
	maxBackoffSeconds     = "stint.dev/max-backoff-seconds"
	failedPodsLimit       = "stint.dev/failed-pods-limit"
	pendingTimeoutSeconds = "stint.dev/pending-timeout-seconds"

	pendingTimeout   = "PendingTimeout"
	pendingCondition = "stint.dev/PendingTimeout"
)

func drawAnnotations(t *rapid.T, j *batchv1.Job) {
	j.Annotations = map[string]string{}
	ask := func(n int, key string, values ...string) {
		if simulated.OneIn(t, n, key) {
			j.Annotations[key] = rapid.SampledFrom(values).Draw(t, key)
		}
	}
	ask(3, backoffSeconds, "0", "1", "7", "40", "1800")
	ask(4, maxBackoffSeconds, "1800", "7200")
	ask(2, failedPodsLimit, "0", "1", "2", "3")
	ask(4, pendingTimeoutSeconds, "1", "20", "300", "1000")
	drawDependencies(t, j)
}

// annotatedNumber returns the number in an annotation, or -1.
func annotatedNumber(j *batchv1.Job, key string) int {
	n, err := strconv.Atoi(j.Annotations[key])
	if err != nil {
		return -1
	}
	return n
}

// delays returns the delay after the first failure and the longest delay.
func delays(j *batchv1.Job) (first, most time.Duration) {
	first, most = 10*time.Second, 10*time.Minute
	if n := annotatedNumber(j, backoffSeconds); n >= 0 {
		first = time.Duration(n) * time.Second
		most = max(most, first)
	}
	if n := annotatedNumber(j, maxBackoffSeconds); n >= 0 {
		most = time.Duration(n) * time.Second
	}
	return first, most
}

// removesFailure reports whether a failed pod is deleted that has been counted.
func (x podWrite) removesFailure() bool {
	goes := x.is == nil || x.is.DeletionTimestamp != nil
	return goes && x.was.DeletionTimestamp == nil && x.was.Status.Phase == corev1.PodFailed && !hasFinalizer(x.was)
}

func (x podWrite) isSurplusFailure() {
	j := x.job()
	if j == nil || !x.removesFailure() || x.fates[x.was.UID].discarded || x.mayDiscard(j) {
		return // The controller may delete it as an active pod: it has just failed.
	}
	limit := annotatedNumber(j, failedPodsLimit)
	newer := 0
	for _, f := range x.fates {
		p := f.last
		// Another client may have deleted it since the process decided.
		there := !f.gone || f.deletedBy != x.by && x.by.knowledge.mayExist(p.UID)
		if p.UID != x.was.UID && there && controlledBy(p, j) && p.Status.Phase == corev1.PodFailed && !x.endOf(p).Before(x.endOf(x.was)) {
			newer++
		}
	}
	if limit < 0 || newer < limit {
		x.Fail("failed pod %s is removed; the limit is %d, and %d newer ones are there", x.was.Name, limit, newer)
	}
}

// checkFailedPods expects no more failed pods of a finished Job than its annotation allows.
func (l *ledger) checkFailedPods(j *batchv1.Job) {
	if n := l.surplusFailures(j); n > 0 {
		l.Fail("%d failed pods more than were asked for are there", n)
	}
}

// surplusFailures returns by how many its counted failed pods exceed the limit of a Job; at most 0 if they do not.
func (l *ledger) surplusFailures(j *batchv1.Job) (n int) {
	limit := annotatedNumber(j, failedPodsLimit)
	if limit < 0 || j.DeletionTimestamp != nil {
		return 0
	}
	for _, p := range l.world.pods.All() {
		if controlledBy(p, j) && p.Status.Phase == corev1.PodFailed && p.DeletionTimestamp == nil && !hasFinalizer(p) {
			n++
		}
	}
	return n - limit
}

// pendingTimeoutOf returns the condition of a pod that failed because it did not start in time, or nil.
func pendingTimeoutOf(p *corev1.Pod) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == pendingCondition && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

// lastOfJob returns the newest version of the Job that controls the pod. It may have been deleted since the process
// decided.
func (x podWrite) lastOfJob() *batchv1.Job {
	ref := metav1.GetControllerOfNoCopy(x.was)
	if ref == nil || x.accounts[ref.UID] == nil {
		return nil
	}
	return x.accounts[ref.UID].now()
}

func (x podWrite) isPendingTooLong() {
	if x.is == nil || ended(x.was) || !ended(x.is) {
		return
	}
	j, age := x.lastOfJob(), time.Since(x.was.CreationTimestamp.Time)
	switch {
	case x.was.Status.Phase != corev1.PodPending || x.was.DeletionTimestamp != nil:
		x.Fail("pod %s is failed, and it is %s", x.was.Name, describePod(x.was))
	case j == nil || x.by.knowledge.gone[j.UID] || annotatedNumber(j, pendingTimeoutSeconds) < 0:
		x.Fail("pod %s is failed, and its Job has not asked for it", x.was.Name)
	case age < time.Duration(annotatedNumber(j, pendingTimeoutSeconds))*time.Second:
		x.Fail("pod %s is failed after %s", x.was.Name, age)
	case x.by.livePods[x.was.Name] != x.was.ResourceVersion:
		x.Fail("pod %s is failed, and the controller has not read it live: an informer may leave out fields that it must write", x.was.Name)
	case x.is.Status.Phase != corev1.PodFailed || x.is.Status.Reason != pendingTimeout || pendingTimeoutOf(x.is) == nil:
		x.Fail("pod %s does not say why it is failed", x.was.Name)
	}
}
