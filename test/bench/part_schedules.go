package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
)

// schedules is part g: everything is due in the same second, once.
func (b *bench) schedules(ctx context.Context) error {
	t := newTable(fmt.Sprintf("(g) %d schedules due in the same second, no-op Jobs on a pretended node", b.scheduled),
		"", "first Job s late", "median", "p99", "last", "all ended after s", "writes/run", "CPU ms/run", "CPU ms/run until the last Job")
	for _, k := range scheduleKinds {
		r, err := b.oneSchedule(ctx, k)
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		last := percentile(r.late, 100)
		b.judge("s late, the last Job of the "+k.name, last, atMost(5))
		t.line(k.name, percentile(r.late, 0), percentile(r.late, 50), percentile(r.late, 99), last,
			r.took.Seconds(), r.writesEach(), r.cpuEach(), r.each(r.starting))
	}
	t.print()
	return nil
}

// scheduleKind is a kind of object that starts Jobs at a time.
type scheduleKind struct {
	name string
	// due returns when schedules can be due that are created from now on, where creating them takes the time making.
	due func(now time.Time, making time.Duration) time.Time
	// make creates a schedule that is due once, at the time due.
	make func(ctx context.Context, c client.Interface, name string, due time.Time) error
}

var scheduleKinds = []scheduleKind{
	{
		name: "ScheduledJobs",
		due:  func(now time.Time, making time.Duration) time.Time { return now.Add(making).Truncate(time.Second) },
		make: func(ctx context.Context, c client.Interface, name string, due time.Time) error {
			_, err := c.ScheduledJobs().Create(ctx, scheduledJob(name, due))
			return err
		},
	},
	{
		name: "CronJobs",
		due: func(now time.Time, making time.Duration) time.Time {
			return now.Add(making + time.Minute).Truncate(time.Minute)
		},
		make: func(ctx context.Context, c client.Interface, name string, due time.Time) error {
			_, err := c.CronJobs().Create(ctx, cronJob(name, due))
			return err
		},
	},
}

func scheduledJob(name string, due time.Time) *stintv1.ScheduledJob {
	return &stintv1.ScheduledJob{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: stintv1.ScheduledJobSpec{
			Schedule: &stintv1.Schedule{TimeSpec: "R1/" + due.UTC().Format(time.RFC3339) + "/PT1H"},
			Template: &noopJob(name, 1, 1).Spec.Template,
		},
	}
}

func cronJob(name string, due time.Time) *batchv1.CronJob {
	due = due.UTC()
	return &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: batchv1.CronJobSpec{
			Schedule:    fmt.Sprintf("%d %d %d %d *", due.Minute(), due.Hour(), due.Day(), due.Month()),
			JobTemplate: batchv1.JobTemplateSpec{Spec: noopJob(name, 1, 1).Spec},
		},
	}
}

// scheduleResult is a result with how late each Job was, in seconds, and the CPU time until the last one was created.
type scheduleResult struct {
	result
	late     []float64
	starting time.Duration
}

// allEnded is the timeout for all Jobs to end.
const allEnded = 5 * time.Minute

// making is how long it may take to create the schedules and to observe them.
func (b *bench) making() time.Duration {
	return 5*time.Second + time.Duration(b.scheduled)*2*time.Millisecond
}

func (b *bench) oneSchedule(ctx context.Context, k scheduleKind) (r scheduleResult, err error) {
	c, err := b.start(ctx, false)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	due := k.due(time.Now(), b.making())
	ctx, cancel := context.WithDeadline(ctx, due.Add(allEnded))
	defer cancel()
	seen, err := watchJobs(c)
	if err != nil {
		return r, err
	}
	wait, err := c.finished(ctx, b.scheduled)
	if err != nil {
		return r, err
	}
	if err := inParallel(b.scheduled, creators, func(i int) error { return k.make(ctx, c, fmt.Sprint("noop-", i), due) }); err != nil {
		return r, err
	}
	if time.Until(due) < time.Second {
		return r, fmt.Errorf("making %d of them took longer than %v: choose fewer with -schedules", b.scheduled, b.making())
	}
	if err := pause(ctx, time.Until(due)-500*time.Millisecond); err != nil {
		return r, err
	}
	before := ownCPU()
	r.result, err = c.during(ctx, b.scheduled, wait)
	r.took = time.Since(due)
	r.starting = seen.cpu - before
	r.late = seen.since(due)
	return r, err
}

// arrivals are the times at which objects were first seen, and the CPU time of this process at the last one.
type arrivals struct {
	mu    sync.Mutex
	times []time.Time
	cpu   time.Duration
}

func watchJobs(c client.Interface) (*arrivals, error) {
	a := &arrivals{}
	_, err := c.Jobs().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.times, a.cpu = append(a.times, time.Now()), ownCPU()
	}})
	return a, err
}

func (a *arrivals) since(due time.Time) (late []float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range a.times {
		late = append(late, t.Sub(due).Seconds())
	}
	return late
}
