package job

import (
	"context"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/job"
)

// failedPods keeps the failed pods that are counted, of Jobs with a limit for them and of no others: what is kept grows
// with the limit, not with what a Job has behind it.
type failedPods struct {
	mu   sync.Mutex
	jobs map[types.UID]map[types.UID]*corev1.Pod
	// jobOfPod tells under which Job a pod is kept.
	jobOfPod map[types.UID]types.UID
	// complete tells that all pods have been looked at which were there before their Job was shown.
	complete bool
	// removed were told to go, though the informer may show them as they were for a while.
	removed *lru.Cache
}

// deletedPodCacheSize is how many pods are known to have been told to go.
const deletedPodCacheSize = 10_000

func newFailedPods() *failedPods {
	return &failedPods{jobs: map[types.UID]map[types.UID]*corev1.Pod{}, jobOfPod: map[types.UID]types.UID{}, removed: lru.New(deletedPodCacheSize)}
}

// keep returns how many pods of job there are now.
func (f *failedPods) keep(job types.UID, p *corev1.Pod) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dropLocked(p.UID)
	if _, removed := f.removed.Get(p.UID); removed {
		return len(f.jobs[job])
	}
	if f.jobs[job] == nil {
		f.jobs[job] = map[types.UID]*corev1.Pod{}
	}
	f.jobs[job][p.UID] = p
	f.jobOfPod[p.UID] = job
	return len(f.jobs[job])
}

// remove takes in that a pod was told to go. It is not among those that are left, however it is shown.
func (f *failedPods) remove(pod types.UID) {
	f.removed.Add(pod, nil)
	f.drop(pod)
}

func (f *failedPods) drop(pod types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dropLocked(pod)
}

func (f *failedPods) dropLocked(pod types.UID) {
	job, kept := f.jobOfPod[pod]
	if !kept {
		return
	}
	delete(f.jobOfPod, pod)
	delete(f.jobs[job], pod)
	if len(f.jobs[job]) == 0 {
		delete(f.jobs, job)
	}
}

func (f *failedPods) forget(job types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for pod := range f.jobs[job] {
		delete(f.jobOfPod, pod)
	}
	delete(f.jobs, job)
}

func (f *failedPods) of(job types.UID) []*corev1.Pod {
	f.mu.Lock()
	defer f.mu.Unlock()
	var pods []*corev1.Pod
	for _, p := range f.jobs[job] {
		pods = append(pods, p)
	}
	return pods
}

func (f *failedPods) setComplete() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.complete = true
}

func (f *failedPods) isComplete() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.complete
}

// observeFailedPod takes in what the informer shows of a pod, and has its Job looked at where pods are too many.
func (c *Controller) observeFailedPod(p *corev1.Pod) {
	job := c.limitedJob(p)
	if job == nil {
		c.failed.drop(p.UID)
		return
	}
	if c.failed.keep(job.UID, p) > *c.options.settings().LimitOfFailedPods(job) {
		c.loop.Queue.Add(loop.Key(job))
	}
}

// limitedJob returns the Job that p is a failed pod of, if it has a limit for them.
func (c *Controller) limitedJob(p *corev1.Pod) *batchv1.Job {
	ref := jobRef(p)
	if ref == nil || !core.CountedAsFailed(p) {
		return nil
	}
	job := c.job(types.NamespacedName{Namespace: p.Namespace, Name: ref.Name})
	if job == nil || job.UID != ref.UID || !c.options.manages(job) || c.options.settings().LimitOfFailedPods(job) == nil {
		return nil
	}
	return job
}

// findAllFailed notes pods that were shown before their Job.
func (c *Controller) findAllFailed() {
	for _, obj := range c.pods.GetStore().List() {
		if p := obj.(*corev1.Pod); core.CountedAsFailed(p) {
			c.observeFailedPod(p)
		}
	}
	c.failed.setComplete()
}

// findFailed notes the pods of a Job that is shown after them, or whose limit has changed.
func (c *Controller) findFailed(job *batchv1.Job) {
	if c.options.settings().LimitOfFailedPods(job) == nil {
		c.failed.forget(job.UID)
		return
	}
	if !c.failed.isComplete() {
		return // findAllFailed is to come.
	}
	for _, obj := range c.pods.GetStore().List() {
		p := obj.(*corev1.Pod)
		if ref := jobRef(p); ref != nil && ref.UID == job.UID {
			c.observeFailedPod(p)
		}
	}
}

// removeFailed deletes failed pods that a Job has too many of.
func (c *Controller) removeFailed(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) error {
	return c.each(ctx, pods, func(p *corev1.Pod) error {
		if _, err := c.remove(ctx, job, p); err != nil {
			return err
		}
		c.metrics.failedPodsRemoved.Inc()
		return nil
	})
}
