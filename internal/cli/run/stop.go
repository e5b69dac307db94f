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
	// joined: the Job was there before, and goes on when the user leaves.
	joined bool
	// deletionTimeout is how long what is deleted may take to go, beyond the grace period of pods, while nothing else goes.
	deletionTimeout time.Duration

	presses int
	last    time.Time
	// deleting: there were Jobs to delete, which may take up to limit.
	deleting bool
	limit    time.Duration
	// abandon: the run is left as it is.
	abandon bool
}

func (s *stopper) begun() bool { return s.presses > 0 }

// signalDebounce is how close two signals may be and mean one: timeout(1) and terminals signal the process and its group.
const signalDebounce = 300 * time.Millisecond

// isDuplicate reports whether a signal belongs to the one before.
func (s *stopper) isDuplicate(now time.Time) bool { return now.Sub(s.last) < signalDebounce }

// press takes the next step.
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

// leave ends the following of Jobs that are not this command's to end.
func (s *stopper) leave() {
	for _, job := range s.jobs.unended() {
		s.note("job " + job.Name + " goes on; to see it again: " + s.caller.Command(job.Namespace, "logs", "-f", "job/"+job.Name))
	}
	s.abandon = true
}

// deleteJobs deletes what has not ended. Foreground: a Job is gone only when its pods are.
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

// killGrace is the shortest that waits for the processes: a pod that is deleted with a grace of 0 is gone from the API
// at once. On a server that is not in this process the run could not know when its processes are, nor show their last lines.
const killGrace = 1

// killPods deletes the pods of Jobs that are on their way out with hardly any grace.
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
