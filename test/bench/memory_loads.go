package main

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// memoryLoad is something that a server does while its memory is read; without run it is idle.
type memoryLoad struct {
	name string
	run  func(context.Context, *serverProcess) error
}

// memoryAtATime is how many pods of a load run at the same time.
const memoryAtATime = 64

func (b *bench) memoryLoads() []memoryLoad {
	return []memoryLoad{
		{"idle", nil},
		{fmt.Sprintf("%d pods in one Job", b.largePods), b.largeJob},
		{fmt.Sprintf("%d pods a round, %d rounds", b.roundPods, b.rounds), b.manyRounds},
		{fmt.Sprintf("CronJobs and TTL, %d min", b.minutes), b.periodic},
	}
}

// runAndDelete runs a Job of that many pods, and deletes it with its pods.
func (s *serverProcess) runAndDelete(ctx context.Context, name string, pods int) error {
	before, err := s.count(ctx, podList)
	if err != nil {
		return err
	}
	if err := s.runJob(ctx, noopJob(name, pods, memoryAtATime)); err != nil {
		return err
	}
	background := metav1.DeletePropagationBackground
	if err := s.set.BatchV1().Jobs(namespace).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		return err
	}
	return s.waitForPods(ctx, before)
}

// polling is how often a load asks whether it has ended.
const polling = 100 * time.Millisecond

// waitForPods waits until at most n pods are stored.
func (s *serverProcess) waitForPods(ctx context.Context, n int) error {
	for {
		now, err := s.count(ctx, podList)
		if err != nil || now <= n {
			return err
		}
		if err := pause(ctx, polling); err != nil {
			return err
		}
	}
}

func (s *serverProcess) runJob(ctx context.Context, job *batchv1.Job) error {
	return s.followJob(ctx, job, func(*batchv1.Job) {})
}

// followJob runs a Job to its end and calls see with each of its states that it reads.
func (s *serverProcess) followJob(ctx context.Context, job *batchv1.Job, see func(*batchv1.Job)) error {
	jobs := s.set.BatchV1().Jobs(job.Namespace)
	if _, err := jobs.Create(ctx, job, metav1.CreateOptions{}); err != nil {
		return err
	}
	for {
		now, err := jobs.Get(ctx, job.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		see(now)
		switch ended(now) {
		case batchv1.JobComplete:
			return nil
		case batchv1.JobFailed:
			return fmt.Errorf("job %s failed: %v", now.Name, now.Status.Conditions)
		}
		if err := pause(ctx, polling); err != nil {
			return err
		}
	}
}

const (
	cronJobs = 30
	ttlEvery = 5 * time.Second
	ttlPods  = 50
)

// periodic runs CronJobs every minute, and every few seconds a Job that goes ten seconds after its end.
func (b *bench) periodic(ctx context.Context, s *serverProcess) error {
	crons := s.set.BatchV1().CronJobs(namespace)
	for i := range cronJobs {
		c := cronJob(fmt.Sprint("cron-", i), time.Now())
		c.Spec.Schedule = "* * * * *"
		if _, err := crons.Create(ctx, c, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for i := range b.minutes * int(time.Minute/ttlEvery) {
		job := noopJob(fmt.Sprint("ttl-", i), ttlPods, ttlPods)
		job.Spec.TTLSecondsAfterFinished = ptr.To[int32](10)
		if _, err := s.set.BatchV1().Jobs(namespace).Create(ctx, job, metav1.CreateOptions{}); err != nil {
			return err
		}
		if err := pause(ctx, ttlEvery); err != nil {
			return err
		}
	}
	for i := range cronJobs {
		suspend := []byte(`{"spec":{"suspend":true}}`)
		if _, err := crons.Patch(ctx, fmt.Sprint("cron-", i), types.MergePatchType, suspend, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return nil
}
