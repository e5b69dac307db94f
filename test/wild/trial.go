package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/stint-dev/stint/test/wild/report"
)

// trial is the run of one Job of a file, in a namespace of its own.
type trial struct {
	server  *server
	file    *file
	number  int
	job     *job
	shell   bool
	timeout time.Duration

	namespace string
}

// run returns how far the Job got, and why no further.
func (t *trial) run(ctx context.Context) (state, string) {
	t.namespace = fmt.Sprintf("wild-%s-%d", strings.TrimSuffix(t.file.name, ".yaml"), t.number)
	if err := t.prepare(ctx); err != nil {
		return stateStuck, err.Error()
	}
	defer t.end()
	name, err := t.server.create(ctx, t.namespace, t.job.object)
	if err != nil {
		return stateRefused, err.Error()
	}
	if t.job.object.GetKind() == "CronJob" {
		if _, err := t.server.stint(ctx, nil, "create", "job", "-n", t.namespace, "by-hand", "--from=cronjob/"+name); err != nil {
			return stateRefused, err.Error()
		}
		name = "by-hand"
	}
	switch end, err := t.await(ctx, name); {
	case err != nil:
		return t.explain(ctx, name)
	case end == batchv1.JobFailed:
		why, _ := t.server.stint(ctx, nil, "why", "-n", t.namespace, name)
		return stateFailed, why
	}
	if t.shell {
		return stateEnded, ""
	}
	if err := t.compare(ctx, name); err != nil {
		return stateDiffers, err.Error()
	}
	return stateEnded, ""
}

func (t *trial) prepare(ctx context.Context) error {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: t.namespace}}
	if _, err := t.server.CoreV1().Namespaces().Create(ctx, n, metav1.CreateOptions{}); err != nil {
		return err
	}
	for _, c := range t.file.companions {
		switch c.GetKind() {
		case "ConfigMap", "Secret", "ServiceAccount", "PersistentVolumeClaim":
			if _, err := t.server.create(ctx, t.namespace, c); err != nil && !strings.Contains(err.Error(), "AlreadyExists") {
				return fmt.Errorf("%s %q: %w", c.GetKind(), c.GetName(), err)
			}
		}
	}
	a := assumedBy(t.job)
	if err := a.make(ctx, t.server, t.namespace); err != nil {
		return err
	}
	return t.load(ctx)
}

// load pulls the images whose pull policy is Never, as they must be on the machine before.
func (t *trial) load(ctx context.Context) error {
	for _, c := range t.job.containers() {
		if c.ImagePullPolicy != corev1.PullNever {
			continue
		}
		if err := t.server.pull(ctx, c.Image); err != nil {
			return err
		}
	}
	return nil
}

// await waits for the Job's end.
func (t *trial) await(ctx context.Context, name string) (end batchv1.JobConditionType, err error) {
	err = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, t.timeout, true, func(ctx context.Context) (bool, error) {
		j, err := t.server.BatchV1().Jobs(t.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, c := range j.Status.Conditions {
			if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
				end = c.Type
			}
		}
		return end != "", nil
	})
	return end, err
}

// end deletes the Jobs and waits until their pods are gone, since pods outlive their server.
func (t *trial) end() {
	ctx, cancel := context.WithTimeout(context.Background(), t.timeout)
	defer cancel()
	policy := metav1.DeletePropagationBackground
	_ = t.server.BatchV1().Jobs(t.namespace).DeleteCollection(ctx, metav1.DeleteOptions{PropagationPolicy: &policy}, metav1.ListOptions{})
	now := int64(1)
	_ = wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		pods := t.server.CoreV1().Pods(t.namespace)
		_ = pods.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{})
		left, err := pods.List(ctx, metav1.ListOptions{})
		return err == nil && len(left.Items) == 0, nil
	})
}

// explain returns what a Job waits for, from stint why.
func (t *trial) explain(ctx context.Context, name string) (state, string) {
	why, err := t.server.stint(ctx, nil, "why", "-n", t.namespace, name)
	switch {
	case err != nil:
		return stateStuck, err.Error()
	case strings.Contains(why, "InvalidImageName"):
		return stateUnusable, why
	}
	return stateStuck, why
}

// compare compares what the containers of the Job's pods report with the manifest.
func (t *trial) compare(ctx context.Context, name string) error {
	pods, err := t.server.CoreV1().Pods(t.namespace).List(ctx, metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=" + name})
	if err != nil {
		return err
	}
	if len(pods.Items) == 0 {
		return errors.New("no pod is left to ask")
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		for _, c := range t.job.containers() {
			started, err := t.started(ctx, pod.Name, c.Name)
			if err == nil {
				err = t.checkStart(ctx, started, pod, c)
			}
			if err != nil {
				return fmt.Errorf("pod %s, container %s: %w", pod.Name, c.Name, err)
			}
		}
	}
	return nil
}

// started returns what a container has reported.
func (t *trial) started(ctx context.Context, pod, container string) (report.Started, error) {
	var s report.Started
	text, err := t.server.CoreV1().Pods(t.namespace).GetLogs(pod, &corev1.PodLogOptions{Container: container}).DoRaw(ctx)
	if err == nil && len(text) == 0 {
		// A sidecar that was started again may have been ended before it could report.
		options := &corev1.PodLogOptions{Container: container, Previous: true}
		text, err = t.server.CoreV1().Pods(t.namespace).GetLogs(pod, options).DoRaw(ctx)
	}
	if err != nil {
		return s, err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		if line, ok := strings.CutPrefix(lines.Text(), report.Prefix); ok {
			return s, json.Unmarshal([]byte(line), &s)
		}
	}
	return s, fmt.Errorf("it has not reported: %.200q", text)
}
