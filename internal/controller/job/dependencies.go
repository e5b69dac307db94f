package job

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/job"
)

// dependencyIndex knows which cached Jobs wait for which. It has only Jobs of this controller: others start their
// Jobs whatever the annotations say.
type dependencyIndex struct {
	mu   sync.Mutex
	jobs *core.DependencyGraph
	// ended has, by waiting Job, the Jobs that finished while it waited. They count even if they are deleted or
	// replaced before the waiting Job is synced.
	ended map[types.NamespacedName]map[string]*batchv1.Job
}

func newDependencyIndex() *dependencyIndex {
	return &dependencyIndex{jobs: core.NewDependencyGraph(), ended: map[types.NamespacedName]map[string]*batchv1.Job{}}
}

func (w *dependencyIndex) set(job types.NamespacedName, awaits []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.jobs.Set(job, awaits)
	maps.DeleteFunc(w.ended[job], func(name string, _ *batchv1.Job) bool { return !slices.Contains(awaits, name) })
	if len(w.ended[job]) == 0 {
		delete(w.ended, job)
	}
}

// end records that a Job has finished. An informer shows changes of Jobs in their order, so those that it shows as
// waiting did so before.
func (w *dependencyIndex) end(job *batchv1.Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, waiter := range w.jobs.WaitersOf(loop.Key(job)) {
		if w.ended[waiter] == nil {
			w.ended[waiter] = map[string]*batchv1.Job{}
		}
		if w.ended[waiter][job.Name] == nil {
			w.ended[waiter][job.Name] = job
		}
	}
}

// endedFor returns the Job of that name which ended while waiter waited for it, or nil.
func (w *dependencyIndex) endedFor(waiter types.NamespacedName, name string) *batchv1.Job {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended[waiter][name]
}

func (w *dependencyIndex) of(awaited types.NamespacedName) []types.NamespacedName {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.jobs.WaitersOf(awaited)
}

func (w *dependencyIndex) cycle(job types.NamespacedName, next string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.jobs.Cycle(job, next)
}

// dependencyChanged requeues the Jobs that wait for a Job, if the change matters to them.
func (c *Controller) dependencyChanged(was, is *batchv1.Job) {
	var key types.NamespacedName
	if is == nil {
		key = loop.Key(was)
		c.dependencyIndex.set(key, nil)
	} else {
		key = loop.Key(is)
		if was != nil && was.UID != is.UID {
			c.dependencyIndex.set(key, nil)
		}
		if c.options.manages(is) {
			c.dependencyIndex.set(key, core.UnmetDependencyNames(is))
		}
	}
	if core.DependencyState(was) == core.DependencyState(is) {
		return
	}
	if is != nil && core.Finished(is) {
		c.dependencyIndex.end(is)
	}
	for _, waiter := range c.dependencyIndex.of(key) {
		c.loop.Queue.Add(waiter)
	}
}

// dependencies observes the Jobs that job waits for. Most Jobs wait for none.
func (c *Controller) dependencies(ctx context.Context, job *batchv1.Job) ([]core.Dependency, error) {
	var list []core.Dependency
	for _, d := range core.UnmetDependencies(job) {
		dependency, err := c.dependency(ctx, loop.Key(job), d.Job)
		if err != nil {
			return nil, err
		}
		cycle, err := c.cycle(ctx, job, d.Job)
		if err != nil {
			return nil, err
		}
		list = append(list, core.Dependency{Name: d.Job, Job: dependency, Cycle: cycle})
	}
	return list, nil
}

// dependency returns the Job called name, for which waiter waits, or nil. A cached Job that is finished is read live:
// it may be deleted, and another one of its name may exist that is not finished.
func (c *Controller) dependency(ctx context.Context, waiter types.NamespacedName, name string) (*batchv1.Job, error) {
	if ended := c.dependencyIndex.endedFor(waiter, name); ended != nil {
		return ended, nil
	}
	key := types.NamespacedName{Namespace: waiter.Namespace, Name: name}
	shown := c.job(key)
	if shown == nil || !core.Finished(shown) {
		return shown, nil
	}
	return c.storedJob(ctx, key)
}

func (c *Controller) storedJob(ctx context.Context, key types.NamespacedName) (*batchv1.Job, error) {
	stored, err := c.client.Jobs().Get(ctx, key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("asking for Job %s: %w", key, err)
	}
	return stored, nil
}

// cycle returns the names of a cycle of Jobs that wait for each other, from dependency back to job, or nil. The
// informer may show a cycle that is open by now, so each Job of it is read live.
func (c *Controller) cycle(ctx context.Context, job *batchv1.Job, dependency string) ([]string, error) {
	way := c.dependencyIndex.cycle(loop.Key(job), dependency)
	if way == nil {
		return nil, nil
	}
	next := job
	for i := len(way) - 2; i > 0; i-- {
		stored, err := c.storedJob(ctx, types.NamespacedName{Namespace: job.Namespace, Name: way[i]})
		if err != nil {
			return nil, err
		}
		if stored == nil || !slices.Contains(core.UnmetDependencyNames(stored), next.Name) {
			return nil, fmt.Errorf("job %s/%s has changed and is not cached yet", job.Namespace, way[i])
		}
		if core.EndedBefore(stored, next) {
			return nil, nil
		}
		next = stored
	}
	return way[1:], nil
}
