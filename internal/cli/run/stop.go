package run

import (
	"context"
	"fmt"
	"maps"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/output"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// halt is how far an interrupt has got.
//
//	running ──Ctrl-C──► jobs deleted, pods end within their grace ──Ctrl-C──► pods killed ──Ctrl-C──► leave at once
type halt struct {
	presses  int
	last     time.Time
	deleting map[types.UID]bool
	patience time.Duration
	abandon  bool
}

func (h *halt) begun() bool { return h.presses > 0 }

// bounce is how close two signals may be and mean one: timeout(1) and terminals signal the process and its group.
const bounce = 300 * time.Millisecond

// bounces reports whether a signal belongs to the one before.
func (h *halt) bounces(now time.Time) bool { return now.Sub(h.last) < bounce }

// stop takes the next step.
func (s *session) stop(ctx context.Context) {
	now := time.Now()
	if s.halt.bounces(now) {
		return
	}
	s.halt.last = now
	s.halt.presses++
	if s.joined {
		s.leave()
		return
	}
	switch s.halt.presses {
	case 1:
		s.deleteJobs(ctx)
	case 2:
		s.out.Note("killing the pods")
		s.halt.patience = s.slack
		s.killPods(ctx)
	default:
		s.halt.abandon = true
	}
}

// giveUp deletes the Jobs that this run has made: nobody would follow them. Those it joined are somebody else's.
func (s *session) giveUp(ctx context.Context) {
	s.mu.Lock()
	maps.DeleteFunc(s.jobs, func(_ types.UID, t *tracked) bool { return t.how == output.Followed })
	s.mu.Unlock()
	// Why the run gives up tells more than that the Jobs are gone.
	_ = s.follow(ctx, true)
}

// deleteJobs deletes what has not ended. Foreground: a Job is gone only when its pods are.
func (s *session) deleteJobs(ctx context.Context) {
	jobs := s.unended()
	deleting := map[types.UID]bool{}
	var longest time.Duration
	for _, job := range jobs {
		deleting[job.UID] = true
		longest = max(longest, grace(job))
	}
	s.mu.Lock()
	s.halt.deleting = deleting
	s.mu.Unlock()
	if len(jobs) == 0 {
		return
	}
	s.halt.patience = longest + s.slack
	s.out.Note(fmt.Sprintf("stopping: deleting %s; pods have up to %s to end; Ctrl-C again kills them",
		numbered(len(jobs), "job"), longest))
	err := inParallel(len(jobs), func(i int) error {
		err := s.batch().Jobs(jobs[i].Namespace).Delete(ctx, jobs[i].Name, metav1.DeleteOptions{
			PropagationPolicy: ptr.To(metav1.DeletePropagationForeground),
			Preconditions:     &metav1.Preconditions{UID: &jobs[i].UID}})
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			s.seen(jobs[i], vanished)
			return nil
		}
		return err
	})
	if err != nil {
		s.out.Note("deleting jobs: " + err.Error())
	}
}

func (s *session) unended() []*batchv1.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	var jobs []*batchv1.Job
	for _, t := range s.jobs {
		if !jobcore.Finished(t.job) && !t.gone {
			jobs = append(jobs, t.job)
		}
	}
	return jobs
}

// killGrace is the shortest that waits for the processes: a pod that is deleted with a grace of 0 is gone from the API
// at once. On a server that is not in this process nobody could tell when its processes are, nor show their last lines.
const killGrace = 1

// killPods deletes the pods of Jobs that are on their way out with hardly any grace.
func (s *session) killPods(ctx context.Context) {
	for namespace, jobs := range s.byNamespace() {
		for _, selector := range podSelectors(jobs) {
			if err := s.killSelected(ctx, namespace, selector); err != nil {
				s.out.Note("killing pods: " + err.Error())
			}
		}
	}
}

func (s *session) killSelected(ctx context.Context, namespace, selector string) error {
	pods, err := s.core().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return err
	}
	return inParallel(len(pods.Items), func(i int) error {
		pod := &pods.Items[i]
		if owner := metav1.GetControllerOf(pod); owner == nil || !s.halt.deleting[owner.UID] {
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
