package run

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// stopper ends a run that the user interrupts.
//
//	running ──Ctrl-C──► jobs deleted, pods end within their grace ──Ctrl-C──► pods killed ──Ctrl-C──► leave at once
type stopper struct {
	*connection
	note func(string)
	jobs *tracker
	// joined is set if the Job existed before: Ctrl-C does not delete it.
	joined bool
	// deletionTimeout is how long to wait for the next deletion after the grace period of the pods.
	deletionTimeout time.Duration

	presses int
	last    time.Time
	// deleting is set if there were Jobs to delete. The next deletion must be observed within limit.
	deleting bool
	limit    time.Duration
	// abandon is set if the command ends without waiting for the Jobs.
	abandon bool
}

func (s *stopper) begun() bool { return s.presses > 0 }

// signalDebounce is the time within which two signals count as one: timeout(1) and terminals signal the process and its group.
const signalDebounce = 300 * time.Millisecond

// isDuplicate reports whether a signal belongs to the one before.
func (s *stopper) isDuplicate(now time.Time) bool { return now.Sub(s.last) < signalDebounce }

// press handles Ctrl-C.
func (s *stopper) press(ctx context.Context) {
	now := time.Now()
	if s.isDuplicate(now) {
		return
	}
	s.last = now
	s.presses++
	if s.joined {
		s.leave()
		return
	}
	switch s.presses {
	case 1:
		s.deleteJobs(ctx)
	case 2:
		s.note("killing the pods")
		s.limit = s.deletionTimeout
		s.killPods(ctx)
	default:
		s.abandon = true
	}
}

// leave ends the command without deleting the Jobs, and shows how to follow them again.
func (s *stopper) leave() {
	for _, job := range s.jobs.unended() {
		s.note("job " + job.Name + " continues; to follow it again: " + s.caller.Command(job.Namespace, "logs", "-f", "job/"+job.Name))
	}
	s.abandon = true
}

// deleteJobs deletes the unfinished Jobs in the foreground, so that a Job is gone only when its pods are.
func (s *stopper) deleteJobs(ctx context.Context) {
	jobs := s.jobs.stop()
	if len(jobs) == 0 {
		return
	}
	var longest time.Duration
	for _, job := range jobs {
		longest = max(longest, grace(job))
	}
	s.deleting, s.limit = true, longest+s.deletionTimeout
	s.note(fmt.Sprintf("stopping: deleting %s; pods have up to %s to end; Ctrl-C again kills them",
		numbered(len(jobs), "job"), longest))
	err := inParallel(len(jobs), func(i int) error {
		err := s.batch().Jobs(jobs[i].Namespace).Delete(ctx, jobs[i].Name, metav1.DeleteOptions{
			PropagationPolicy: ptr.To(metav1.DeletePropagationForeground),
			Preconditions:     &metav1.Preconditions{UID: &jobs[i].UID}})
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			s.jobs.seen(jobs[i], deletedUnseen)
			return nil
		}
		return err
	})
	if err != nil {
		s.note("deleting jobs: " + err.Error())
	}
}

// killGrace is the shortest grace period, in seconds, that waits for the processes. With 0 the pod is removed from the API at
// once, and the run would not know when its processes have ended, nor show their last lines.
const killGrace = 1

// killPods deletes the pods of deleted Jobs with killGrace.
func (s *stopper) killPods(ctx context.Context) {
	for namespace, jobs := range byNamespace(s.jobs.all()) {
		for _, selector := range podSelectors(jobs) {
			if err := s.killSelected(ctx, namespace, selector); err != nil {
				s.note("killing pods: " + err.Error())
			}
		}
	}
}

func (s *stopper) killSelected(ctx context.Context, namespace, selector string) error {
	pods, err := s.core().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return err
	}
	return inParallel(len(pods.Items), func(i int) error {
		pod := &pods.Items[i]
		if owner := metav1.GetControllerOf(pod); owner == nil || !s.jobs.isStopping(owner.UID) {
			return nil
		}
		err := s.core().Pods(namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](killGrace),
			Preconditions: &metav1.Preconditions{UID: &pod.UID}})
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return nil
		}
		return err
	})
}

func numbered(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
