package main

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// networksAtATime is how many pods of a Job run at the same time in part k.
const networksAtATime = 32

// networks is part k: what Services and networks cost pods that have none, and those that do.
func (b *bench) networks(ctx context.Context) error {
	program, err := stintBinary(b.stint)
	if err != nil {
		fmt.Printf("\n(k) left out: %v\n", err)
		return nil
	}
	without := b.beside(ctx, "no Service", program, "", nil)
	ways := []*way{without,
		b.beside(ctx, "a Service of another namespace", program, "kube-system", nil),
		b.beside(ctx, "a network each", program, namespace, nil),
		b.beside(ctx, "a network each, behind a Service", program, namespace, selected),
	}
	var before *way
	if b.against != "" {
		before = b.beside(ctx, "no Service (-against)", b.against, "", nil)
		ways = append(ways, before)
	}
	if err := byTurns(b.runs, ways); err != nil {
		return err
	}
	t := newTable(fmt.Sprintf("(k) %d pods of %v as processes, %d at a time", b.pods, noop, networksAtATime),
		"", "pods/s", "× no Service", "CPU ms/pod of the server", "× no Service", "of the host", "× no Service")
	measures := []func(result) float64{result.rate, result.serverEach, result.hostEach}
	for _, w := range ways {
		line := []any{w.name}
		for _, measure := range measures {
			now := medianOf(w.all, measure)
			line = append(line, now, now/medianOf(without.all, measure))
		}
		t.line(line...)
	}
	t.print()
	if before != nil {
		b.judgeBeside("pods/s without a Service, beside -against", medianOf(without.all, result.rate), medianOf(before.all, result.rate), atLeast(0.95))
		b.judgeBeside("CPU ms of the server a pod, beside -against", medianOf(without.all, result.serverEach), medianOf(before.all, result.serverEach), atMost(1.05))
		b.judgeBeside("CPU ms of the host a pod, beside -against", medianOf(without.all, result.hostEach), medianOf(before.all, result.hostEach), atMost(1.05))
	}
	return nil
}

// selected are the labels of the pods that a Service leads to.
var selected = map[string]string{"app": "noop"}

// beside is a Job on a server of its own, which has a Service in a namespace; without one if that is empty.
func (b *bench) beside(ctx context.Context, name, program, serviceIn string, selector map[string]string) *way {
	job := noopJob("noop", b.pods, networksAtATime)
	job.Spec.Template.Labels = selected
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "noop"},
		Spec:       corev1.ServiceSpec{Selector: selector, PublishNotReadyAddresses: true, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	return &way{name: name, run: func() (r result, err error) {
		_, err = b.onServer(ctx, program, func(s *serverProcess) error {
			if serviceIn != "" {
				if _, err := s.set.CoreV1().Services(serviceIn).Create(ctx, service, metav1.CreateOptions{}); err != nil {
					return err
				}
			}
			r, err = s.timeJob(ctx, job)
			return err
		})
		return r, err
	}}
}

// timeJob measures a Job from its creation until a watch shows its end.
func (s *serverProcess) timeJob(ctx context.Context, job *batchv1.Job) (r result, err error) {
	jobs := s.set.BatchV1().Jobs(job.Namespace)
	w, err := jobs.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + job.Name})
	if err != nil {
		return r, err
	}
	defer w.Stop()
	clock := s.stopwatch()
	clock.start()
	if _, err := jobs.Create(ctx, job, metav1.CreateOptions{}); err != nil {
		return r, err
	}
	for event := range w.ResultChan() {
		now, is := event.Object.(*batchv1.Job)
		if !is {
			continue
		}
		switch ended(now) {
		case batchv1.JobComplete:
			r = clock.stop()
			r.things = int(*job.Spec.Completions)
			return r, nil
		case batchv1.JobFailed:
			return r, fmt.Errorf("job %s failed: %v", now.Name, now.Status.Conditions)
		}
	}
	return r, errors.New("the watch on Jobs ended")
}
