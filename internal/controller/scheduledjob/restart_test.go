package scheduledjob_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/controller/scheduledjob"
	"github.com/stint-dev/stint/test/await"
)

func TestEveryDueTimeIsOneRunOverRestartsOfTheController(t *testing.T) {
	e := start(t, scheduledjob.Options{})
	var mu sync.Mutex
	made := map[string]int{}
	if _, err := e.client.Jobs().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(o any) {
		mu.Lock()
		defer mu.Unlock()
		made[o.(*batchv1.Job).Name]++
	}}); err != nil {
		t.Fatal(err)
	}
	// Jobs are deleted as soon as they are finished, so that only the status shows that a run has run.
	e.create(newScheduledJob("restarts", "R8//PT1S", keepAll, func(s *stintv1.ScheduledJobSpec) {
		s.SuccessfulJobsHistoryLimit = ptr.To[int32](0)
	}))
	for n := range int64(3) {
		e.until("restarts", "on its way", func(s *stintv1.ScheduledJobStatus) bool { return s.ScheduleCount > 2*n })
		e.stop()
		e.startController(scheduledjob.Options{})
	}
	s := e.until("restarts", "all have run", completed(8))
	if s.ScheduleCount != 8 || s.SkippedCount != 0 {
		t.Errorf("%d started, %d skipped", s.ScheduleCount, s.SkippedCount)
	}
	await.Until(e.t, "all Jobs to be cached", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(made) >= 8
	})
	mu.Lock()
	defer mu.Unlock()
	// Late runs run at the same time, and end in any order.
	runs := slices.SortedFunc(slices.Values(s.CompletedExecutions), byDueTime)
	for i, run := range runs {
		due := runs[0].DueAt.Add(time.Duration(i) * time.Second)
		if !run.DueAt.Time.Equal(due) || made[run.JobName] != 1 {
			t.Errorf("run %d was due at %v, want %v, and has had %d Jobs", i, run.DueAt, due, made[run.JobName])
		}
	}
}
