package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// exitLatencies measures, in milliseconds, how long after a pod's exit a user's watch shows that it has succeeded. The
// pod's last command writes down the time, so the time that it needs to exit after that is included.
func (b *bench) exitLatencies(ctx context.Context, set *kubernetes.Clientset) ([]float64, error) {
	stamps, err := os.MkdirTemp(b.dir, "stamps-")
	if err != nil {
		return nil, err
	}
	job := noopJob("stamps", b.latencies, 2)
	mode := batchv1.IndexedCompletion
	job.Spec.CompletionMode = &mode
	job.Spec.Template.Spec.Containers[0].Command = []string{"sh", "-c", `date +%s%N > "$0/$JOB_COMPLETION_INDEX"`, stamps}
	seen, err := watchEnds(ctx, set, job)
	if err != nil {
		return nil, err
	}
	var all []float64
	for index, at := range seen {
		stamp, err := os.ReadFile(filepath.Join(stamps, index))
		if err != nil {
			return nil, err
		}
		ns, err := strconv.ParseInt(strings.TrimSpace(string(stamp)), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the stamp of index %s: %w", index, err)
		}
		all = append(all, at.Sub(time.Unix(0, ns)).Seconds()*1000)
	}
	return all, nil
}

// watchEnds runs job and returns when each index was seen to have succeeded.
func watchEnds(ctx context.Context, set *kubernetes.Clientset, job *batchv1.Job) (map[string]time.Time, error) {
	w, err := set.CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job.Name})
	if err != nil {
		return nil, err
	}
	defer w.Stop()
	if _, err := set.BatchV1().Jobs(namespace).Create(ctx, job, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	seen := map[string]time.Time{}
	for len(seen) < int(*job.Spec.Completions) {
		event, ok := <-w.ResultChan()
		now := time.Now()
		if !ok {
			return nil, errors.New("the watch on pods ended")
		}
		pod, ok := event.Object.(*corev1.Pod)
		if !ok || event.Type == watch.Deleted {
			continue
		}
		index := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
		if pod.Status.Phase == corev1.PodFailed {
			return nil, fmt.Errorf("pod %s failed: %s", pod.Name, pod.Status.Message)
		}
		if _, known := seen[index]; !known && pod.Status.Phase == corev1.PodSucceeded {
			seen[index] = now
		}
	}
	return seen, nil
}
