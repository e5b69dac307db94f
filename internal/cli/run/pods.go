package run

import (
	"bufio"
	"bytes"
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/podlog"
	"github.com/stint-dev/stint/internal/podstatus"
)

// podReader shows the logs of the pods of a run, and which of them fail.
type podReader struct {
	*connection
	out  output.Output
	jobs *tracker
	show Logs
	// logs is nil if none are shown.
	logs *podlog.Collector
}

// begin starts to show the logs of these Jobs, until ctx ends.
func (r *podReader) begin(ctx context.Context, jobs []*batchv1.Job) {
	if r.show == LogsNone {
		return
	}
	r.logs = podlog.New(ctx, r.openLog, podlog.Options{FailedOnly: r.show == LogsFailed, SinglePod: singlePod(jobs)},
		r.out.Log, r.out.Note)
}

// seen observes a pod. It ignores pods of other runs.
func (r *podReader) seen(pod *corev1.Pod, gone bool) {
	ours, failed := r.jobs.seenPod(pod, gone)
	if !ours {
		return
	}
	r.warn.show(podstatus.IncompleteLogs(pod))
	if failed {
		r.out.PodFailed(podFailure(podlog.JobOf(pod), pod))
	}
	if r.logs != nil {
		r.logs.Observe(pod)
	}
}

// finish lists the Job's pods, as the watch may not have shown the last ones, waits for their logs, and returns the failed ones.
func (r *podReader) finish(ctx context.Context, job *batchv1.Job, timeout time.Duration) []*corev1.Pod {
	if r.show == LogsNone && job.Status.Failed == 0 {
		return nil
	}
	pods, err := r.last(ctx, job)
	if err != nil {
		r.out.Note("pods of job " + job.Name + " cannot be listed: " + err.Error())
		return nil
	}
	var failed []*corev1.Pod
	for _, pod := range pods {
		r.seen(pod, false)
		if pod.Status.Phase == corev1.PodFailed {
			failed = append(failed, pod)
		}
	}
	if r.logs == nil {
		return failed
	}
	if r.areMissing(job, pods) {
		r.await(ctx, job, timeout)
	}
	r.drain(ctx, job)
	return failed
}

// drain waits for the rest of a Job's logs.
func (r *podReader) drain(ctx context.Context, job *batchv1.Job) {
	ctx, cancel := context.WithTimeout(ctx, r.lateDataTimeout)
	defer cancel()
	r.logs.Drain(ctx, job.UID)
}

// await waits until the watch has shown the pods of a Job that can no longer be listed.
func (r *podReader) await(ctx context.Context, job *batchv1.Job, timeout time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r.logs.Await(ctx, job.UID, r.counted(job))
}

// counted is how many terminated pods there are to read, by the Job's status.
func (r *podReader) counted(job *batchv1.Job) int {
	if r.show == LogsAll {
		return int(job.Status.Failed + job.Status.Succeeded)
	}
	return int(job.Status.Failed)
}

// areMissing reports whether fewer terminated pods are listed than the Job has counted.
func (r *podReader) areMissing(job *batchv1.Job, pods []*corev1.Pod) bool {
	ended := 0
	for _, pod := range pods {
		if podstatus.IsTerminated(pod) {
			ended++
		}
	}
	return ended < r.counted(job)
}

// last lists the pods of a Job. If the server stops, it asks the next one.
func (r *podReader) last(ctx context.Context, job *batchv1.Job) (pods []*corev1.Pod, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.lateDataTimeout)
	defer cancel()
	_ = wait.PollUntilContextCancel(ctx, tick, true, func(ctx context.Context) (bool, error) {
		pods, err = r.list(ctx, job)
		return err == nil || !unreachable(err), nil
	})
	return pods, err
}

func (r *podReader) list(ctx context.Context, job *batchv1.Job) ([]*corev1.Pod, error) {
	list, err := r.core().Pods(job.Namespace).List(ctx, podOptions(r.show, podSelectors([]*batchv1.Job{job})[0]))
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

// tail returns the last lines of the first container that failed.
func (r *podReader) tail(ctx context.Context, pod *corev1.Pod) []string {
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
	body, err := r.openLog(ctx, pod, &corev1.PodLogOptions{Container: container, TailLines: ptr.To[int64](lastLines)})
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
