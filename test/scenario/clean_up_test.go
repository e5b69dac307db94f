package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

func (s *scene) cleanUp() {
	if s.stopped {
		s.startController()
	}
	ctx := context.Background()
	background := metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}
	s.deleteOwners(background)
	// One by one, as a real API server deletes a collection, too.
	for _, j := range s.jobsLeft() {
		if err := s.api.BatchV1().Jobs(s.namespace).Delete(ctx, j.Name, background); err != nil && !apierrors.IsNotFound(err) {
			s.Error(err)
		}
	}
	s.dropOtherFinalizers()
	s.seesAll()
	s.finalizersRemoved()
	now := metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
	if err := s.api.CoreV1().Pods(s.namespace).DeleteCollection(ctx, now, metav1.ListOptions{}); err != nil {
		s.Error(err)
	}
	s.eventually(func(h *history) string {
		left, pods := 0, h.pods(func(*corev1.Pod) bool { return true })
		for _, o := range h.newest {
			switch o.(type) {
			case *batchv1.Job, *batchv1.CronJob, *stintv1.ScheduledJob:
				left++
			}
		}
		if left+len(pods) == 0 {
			return ""
		}
		return fmt.Sprintf("everything to be gone at the end; there are %d Jobs and their owners, and pods%s", left, describe(pods))
	})
}

// seesAll returns when the histories have all writes to Jobs and pods so far: a watch that lags would hide writes from
// the invariants. It waits for a last Job and a last pod, in a namespace where no quota refuses them.
func (s *scene) seesAll() {
	ctx, elsewhere, now := context.Background(), metav1.NamespaceDefault, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}
	template := aJob(named("last-"+s.namespace), managedBy("example.com/nobody"))
	jobs, pods := s.api.BatchV1().Jobs(elsewhere), s.api.CoreV1().Pods(elsewhere)
	j, err := jobs.Create(ctx, template, metav1.CreateOptions{})
	s.must(err)
	p, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: j.Name}, Spec: template.Spec.Template.Spec}, metav1.CreateOptions{})
	s.must(err)
	missing := s.column.chronicle.of(elsewhere).until(func(h *history) string { return h.shows(j) + h.shows(p) })
	s.must(errors.Join(jobs.Delete(ctx, j.Name, now), pods.Delete(ctx, p.Name, now)))
	if missing != "" {
		s.Fatalf("waited in vain for %s", missing)
	}
}

// deleteOwners deletes the CronJobs and ScheduledJobs, which would make more Jobs.
func (s *scene) deleteOwners(o metav1.DeleteOptions) {
	all := metav1.ListOptions{}
	if err := s.api.BatchV1().CronJobs(s.namespace).DeleteCollection(context.Background(), o, all); err != nil {
		s.Error(err)
	}
	if s.column.reference {
		return
	}
	if err := s.column.scheduledJobs(s.namespace).DeleteCollection(context.Background(), o, all); err != nil {
		s.Error(err)
	}
}

// finalizersRemoved waits until the controller has observed that its Jobs are gone, and has removed their pods' finalizers.
// It would count pods that are deleted before as failures, and replace them.
func (s *scene) finalizersRemoved() {
	s.eventually(func(h *history) string {
		if held := h.pods(hasFinalizer); len(held) > 0 {
			return "the pods of deleted Jobs to have no finalizer; there are" + describe(held)
		}
		return ""
	})
}

// dropOtherFinalizers removes the finalizers that a failed scenario has left.
func (s *scene) dropOtherFinalizers() {
	list, err := s.api.CoreV1().Pods(s.namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		s.Error(err)
		return
	}
	for i := range list.Items {
		if slices.Contains(list.Items[i].Finalizers, otherFinalizer) {
			s.must(pod{&list.Items[i], s}.finalize())
		}
	}
}

func (s *scene) jobsLeft() []batchv1.Job {
	list, err := s.api.BatchV1().Jobs(s.namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		s.Error(err)
		return nil
	}
	return list.Items
}
