package apiserver_test

import (
	"context"
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// The benchmarks write with 16 goroutines.

func BenchmarkInProcessCreatePod(b *testing.B) {
	r := start(b)
	pods := r.Client().Pods()
	parallel(b, func(ctx context.Context, i int) error {
		_, err := pods.Create(ctx, pod(fmt.Sprintf("p-%d", i)))
		return err
	})
}

func BenchmarkInProcessModifyPodStatus(b *testing.B) {
	r := start(b)
	pods := r.Client().Pods()
	made := make([]*corev1.Pod, b.N)
	for i := range made {
		made[i] = must[*corev1.Pod](b)(pods.Create(b.Context(), pod(fmt.Sprintf("p-%d", i))))
	}
	parallel(b, func(ctx context.Context, i int) error {
		_, err := pods.ModifyStatus(ctx, made[i], func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })
		return err
	})
}

func BenchmarkInProcessJobStatus(b *testing.B) {
	r := start(b)
	jobs := r.Client().Jobs()
	made := make([]*batchv1.Job, b.N)
	for i := range made {
		made[i] = must[*batchv1.Job](b)(jobs.Create(b.Context(), job(fmt.Sprintf("j-%d", i))))
	}
	parallel(b, func(ctx context.Context, i int) error {
		_, err := jobs.ModifyStatus(ctx, made[i], func(j *batchv1.Job) { j.Status.Active = 1 })
		return err
	})
}

func parallel(b *testing.B, write func(ctx context.Context, i int) error) {
	const writers = 16
	next := make(chan int)
	failed := make(chan error, writers)
	b.ResetTimer()
	for range writers {
		go func() {
			var first error
			for i := range next {
				if err := write(b.Context(), i); err != nil && first == nil {
					first = err
				}
			}
			failed <- first
		}()
	}
	for i := range b.N {
		next <- i
	}
	close(next)
	for range writers {
		if err := <-failed; err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
}
