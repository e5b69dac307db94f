package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deletionTimeout is how long node and garbage collector may take, after the grace period, until the next deletion is
// observed.
const deletionTimeout = 2 * time.Minute

// leftShown bounds the Jobs that are listed, and the pods of each.
const leftShown = 5

// stuck reports whether deleted objects stay for too long, because of a finalizer or of a missing node.
func (s *stopper) stuck(now time.Time) bool {
	if !s.deleting {
		return false
	}
	since := s.last
	if went := s.jobs.lastWent(); went.After(since) {
		since = went
	}
	return now.Sub(since) > s.limit
}

// remaining returns an error that lists the deleted Jobs that still exist.
func (s *stopper) remaining(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.lateDataTimeout)
	defer cancel()
	jobs := s.jobs.stopping()
	slices.SortFunc(jobs, func(a, b *batchv1.Job) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	var errs []error
	for _, job := range jobs[:min(len(jobs), leftShown)] {
		if text := s.remains(ctx, job); text != "" {
			errs = append(errs, errors.New(text))
		}
	}
	if more := len(jobs) - leftShown; more > 0 {
		errs = append(errs, fmt.Errorf("and %s more", numbered(more, "job")))
	}
	return errors.Join(errs...)
}

// remains says why a deleted Job still exists, as far as that is known; empty if it does not.
func (s *stopper) remains(ctx context.Context, old *batchv1.Job) string {
	text := fmt.Sprintf("job %s/%s", old.Namespace, old.Name)
	job, err := s.batch().Jobs(old.Namespace).Get(ctx, old.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && job.UID != old.UID {
		return ""
	}
	if err != nil {
		return text + " may still exist: " + err.Error()
	}
	text += " still exists"
	var holds []string
	finalizers := withoutWaiting(job.Finalizers)
	switch {
	case job.DeletionTimestamp == nil:
		text += " and is not marked as deleted"
	case len(finalizers) > 0:
		holds = append(holds, "the finalizer "+strings.Join(finalizers, ", "))
	}
	list, err := s.core().Pods(job.Namespace).List(ctx, metav1.ListOptions{LabelSelector: podSelectors([]*batchv1.Job{job})[0]})
	if err != nil {
		return text + because(holds) + "; its pods cannot be listed: " + err.Error()
	}
	pods := slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool { return !metav1.IsControlledBy(&pod, job) })
	if len(pods) > 0 {
		holds = append(holds, podNames(pods))
	}
	return text + because(holds)
}

// withoutWaiting leaves out the finalizer foregroundDeletion, which waits for the pods, if there is another one.
func withoutWaiting(finalizers []string) []string {
	if len(finalizers) == 1 {
		return finalizers
	}
	return slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool { return f == metav1.FinalizerDeleteDependents })
}

func because(holds []string) string {
	if len(holds) == 0 {
		return ""
	}
	return ": it waits for " + strings.Join(holds, " and for ")
}

func podNames(pods []corev1.Pod) string {
	var names []string
	for i := range pods[:min(len(pods), leftShown)] {
		names = append(names, pods[i].Name)
	}
	if more := len(pods) - leftShown; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return numbered(len(pods), "pod") + " (" + strings.Join(names, ", ") + ")"
}
