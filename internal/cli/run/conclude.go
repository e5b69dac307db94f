package run

import (
	"bufio"
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/output"
	jobcore "github.com/stint-dev/stint/internal/job"
)

const (
	// failuresShown bounds the pods that a failed Job is explained with, lastLines what is shown of their logs.
	failuresShown = 10
	lastLines     = 10
	// podsLate is how much later than a Job's end the watch may show its last pods.
	podsLate = 5 * time.Second
)

// conclude reads what is left of a Job's logs and tells how it ended. The caller holds the lock.
func (s *session) conclude(ctx context.Context, t *tracked, stopping bool) {
	job, gone, unseen := t.job, t.gone, t.unseen
	patience := s.podPatience(t)
	waiting, moreWaiting := t.waits.neverRan(t.ref)
	s.conclusion.Go(func() {
		s.concluding <- struct{}{}
		defer func() { <-s.concluding }()
		if !jobcore.Finished(job) && s.opts.Recall != nil {
			job = s.opts.Recall(ctx, job)
		}
		if !jobcore.Finished(job) && unseen {
			job = s.recall(ctx, job)
		}
		result := output.Result{Job: t.ref, Outcome: output.Deleted, Succeeded: job.Status.Succeeded,
			Failures: job.Status.Failed, Took: took(job), Unseen: unseen}
		if condition := jobcore.End(job); condition != nil {
			result.Outcome = output.Outcome(condition.Type)
			result.Reason, result.Message = condition.Reason, condition.Message
			if condition.Reason == batchv1.JobReasonDeadlineExceeded {
				result.Waiting, result.MoreWaiting = waiting, moreWaiting
			}
		}
		if !gone || !stopping {
			failed := s.finishLogs(ctx, job, patience)
			if result.Outcome == output.Failed {
				s.explain(ctx, &result, failed)
			}
		}
		s.out.Finish(result)
		s.mu.Lock()
		t.outcome = result.Outcome
		s.mu.Unlock()
		s.wake()
	})
}

// finishLogs makes sure of the Job's last pods, which the watch may not have shown yet, and returns those that failed.
func (s *session) finishLogs(ctx context.Context, job *batchv1.Job, patience time.Duration) []*corev1.Pod {
	if s.opts.Logs == LogsNone && job.Status.Failed == 0 {
		return nil
	}
	pods, err := s.lastPods(ctx, job)
	if err != nil {
		s.out.Note("pods of job " + job.Name + " cannot be listed: " + err.Error())
		return nil
	}
	var failed []*corev1.Pod
	for _, pod := range pods {
		s.seenPod(pod, false)
		if pod.Status.Phase == corev1.PodFailed {
			failed = append(failed, pod)
		}
	}
	if s.logs == nil {
		return failed
	}
	if s.areMissing(job, pods) {
		s.awaitPods(ctx, job, patience)
	}
	s.drain(ctx, job)
	return failed
}

// podPatience is how long pods that the Job has counted are waited for where they cannot be listed. The watch tells of all
// pods of a Job that this run has made; one that was there before may have had others.
func (s *session) podPatience(t *tracked) time.Duration {
	switch {
	case t.gone:
		return s.patience
	case t.how == output.Followed || s.joined || s.moved:
		return 0
	}
	return podsLate
}

// drain waits for the rest of a Job's logs.
func (s *session) drain(ctx context.Context, job *batchv1.Job) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	s.logs.Drain(ctx, job.UID)
}

// awaitPods waits until the watch has told of the pods of a Job. Those that are gone can be listed no more.
func (s *session) awaitPods(ctx context.Context, job *batchv1.Job, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s.logs.Await(ctx, job.UID, s.countedPods(job))
}

// countedPods is how many ended pods there are to read by the Job's own count.
func (s *session) countedPods(job *batchv1.Job) int {
	if s.opts.Logs == LogsAll {
		return int(job.Status.Failed + job.Status.Succeeded)
	}
	return int(job.Status.Failed)
}

// areMissing reports whether fewer ended pods are listed than the Job has counted.
func (s *session) areMissing(job *batchv1.Job, pods []*corev1.Pod) bool {
	ended := 0
	for _, pod := range pods {
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			ended++
		}
	}
	return ended < s.countedPods(job)
}

// lastPods is podsOf, asked of the next server where one has gone.
func (s *session) lastPods(ctx context.Context, job *batchv1.Job) (pods []*corev1.Pod, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	_ = wait.PollUntilContextCancel(ctx, tick, true, func(ctx context.Context) (bool, error) {
		pods, err = s.podsOf(ctx, job)
		return err == nil || !unreachable(err), nil
	})
	return pods, err
}

func (s *session) podsOf(ctx context.Context, job *batchv1.Job) ([]*corev1.Pod, error) {
	list, err := s.core().Pods(job.Namespace).List(ctx, s.podOptions(podSelectors([]*batchv1.Job{job})[0]))
	if err != nil {
		return nil, err
	}
	var pods []*corev1.Pod
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], job) {
			pods = append(pods, &list.Items[i])
		}
	}
	return pods, nil
}

// explain adds the newest failed pods and the ends of their logs.
func (s *session) explain(ctx context.Context, r *output.Result, failed []*corev1.Pod) {
	slices.SortStableFunc(failed, func(a, b *corev1.Pod) int {
		return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
	})
	shown := failed[:min(len(failed), failuresShown)]
	r.MorePods = max(len(failed), int(r.Failures)) - len(shown)
	r.Results = s.caller.Command(r.Namespace, "results", r.Name)
	r.Pods = make([]output.PodFailure, len(shown))
	// What cannot be read is left out: the explanation stands without it.
	_ = inParallel(len(shown), func(i int) error {
		r.Pods[i] = podFailure(r.Job, shown[i])
		r.Pods[i].LastLines = s.tail(ctx, shown[i])
		return nil
	})
}

// tail returns the last lines of the first container that failed.
func (s *session) tail(ctx context.Context, pod *corev1.Pod) []string {
	container := ""
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if ended := status.State.Terminated; ended != nil && ended.ExitCode != 0 {
			container = status.Name
			break
		}
	}
	if container == "" {
		return nil
	}
	body, err := s.openLog(ctx, pod, &corev1.PodLogOptions{Container: container, TailLines: ptr.To[int64](lastLines)})
	if err != nil {
		return nil
	}
	defer body.Close()
	var lines []string
	scanner := bufio.NewScanner(body)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		lines = append(lines, string(bytes.ToValidUTF8(scanner.Bytes(), []byte("?"))))
	}
	return lines[max(0, len(lines)-lastLines):]
}

// podFailure describes how a pod failed.
func podFailure(job output.Job, pod *corev1.Pod) output.PodFailure {
	f := output.PodFailure{Job: job, Pod: pod.Name, Reason: pod.Status.Reason, Message: strings.TrimSpace(pod.Status.Message)}
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		ended := status.State.Terminated
		if ended == nil || (ended.ExitCode == 0 && ended.Signal == 0) {
			continue
		}
		f.Containers = append(f.Containers, output.ContainerFailure{Name: status.Name, ExitCode: ended.ExitCode,
			Signal: ended.Signal, Reason: ended.Reason, Message: ended.Message})
	}
	return f
}
