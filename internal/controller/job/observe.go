package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/job"
)

// observe gathers all that the next decision about job depends on.
func (c *Controller) observe(ctx context.Context, job *batchv1.Job) (core.Observation, error) {
	obs := core.Observation{
		Job: job, Now: c.options.Clock.Now(), Settings: c.options.settings(), FailedPods: c.failed.of(job.UID),
	}
	var err error
	if obs.Dependencies, err = c.dependencies(ctx, job); err != nil {
		return obs, err
	}
	c.memory.observeRefusals(&obs)
	err = c.observePods(ctx, &obs)
	return obs, err
}

// observePods fills in the pods. It makes sure of those that are known too little of, or that could be counted twice.
func (c *Controller) observePods(ctx context.Context, obs *core.Observation) error {
	job := obs.Job
	c.podCache.observe(obs)
	doubtful := c.podCache.Overdue(job.UID)
	status := c.memory.lastForeign(job)
	behind := c.podsBehind(&status.version)
	unseen := status.unseen(job, obs.Pods)
	if behind && unseen.Len() > 0 {
		return fmt.Errorf("job %s/%s lists pods that are not shown yet", job.Namespace, job.Name)
	}
	if !behind {
		clear(status.listed)
	}
	if c.takeIn(job, unseen) {
		c.podCache.observe(obs)
	}
	suspects := uncertain(job, &status.version, obs.Pods)
	find := c.shownPod
	if behind {
		find = c.storedPod
		suspects = slices.DeleteFunc(suspects, func(p *corev1.Pod) bool { return status.asked.Has(p.UID) })
	}
	status.unconfirmed = status.unconfirmed || behind && len(suspects) > 0
	err := errors.Join(c.lookUp(ctx, job, doubtful, c.storedPod), c.lookUp(ctx, job, suspects, find))
	asked := status.unconfirmed || len(doubtful)+len(suspects) > 0
	if err == nil && status.unconfirmed {
		err = c.confirm(ctx, job)
		status.unconfirmed = err != nil
	}
	if err == nil && behind {
		for _, p := range suspects {
			status.asked.Insert(p.UID)
		}
	}
	if asked {
		c.podCache.observe(obs)
	}
	return err
}

// confirm makes sure that job is the newest version: the counting of its pods could be in a status that is not shown yet.
func (c *Controller) confirm(ctx context.Context, job *batchv1.Job) error {
	fresh, err := c.client.Jobs().Get(ctx, job.Namespace, job.Name)
	if err != nil {
		return fmt.Errorf("asking for Job %s/%s: %w", job.Namespace, job.Name, err)
	}
	if fresh.UID != job.UID || fresh.ResourceVersion != job.ResourceVersion {
		return fmt.Errorf("job %s/%s has changed and is not shown yet", job.Namespace, job.Name)
	}
	return nil
}

// podsBehind tells that what is known of pods may be older than a status. Pods that it counts may still be shown with
// their finalizer; they must not be counted again.
func (c *Controller) podsBehind(status *metav1.ObjectMeta) bool {
	return loop.OlderVersion(c.pods.LastSyncResourceVersion(), status.ResourceVersion)
}

// takeIn finds pods in what the informer shows, of which the handlers may hear a little later: those that are wanted and,
// where any is, all others of job. One of them may stand in the place of another that the handlers know the end of.
func (c *Controller) takeIn(job *batchv1.Job, wanted sets.Set[types.UID]) (found bool) {
	if wanted.Len() == 0 {
		return false
	}
	for _, obj := range c.pods.GetStore().List() {
		p := obj.(*corev1.Pod)
		if (wanted.Has(p.UID) || metav1.IsControlledBy(p, job)) && c.podCache.matters(job.UID, p) {
			c.podCache.Answered(job.UID, p)
			found = true
		}
	}
	return found
}

// uncertain returns the pods that the next decision could count for the second time: those that had the finalizer when
// the foreign status was older than it is now. Also pods that run could be counted, if the Job fails, and orphans, once
// they are adopted.
func uncertain(job *batchv1.Job, foreign *metav1.ObjectMeta, pods []*corev1.Pod) []*corev1.Pod {
	certain := sets.New(listed(job)...)
	return slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool {
		settled := !core.HasFinalizer(p) && metav1.GetControllerOfNoCopy(p) != nil
		return settled || certain.Has(p.UID) || loop.Older(foreign, p)
	})
}

func listed(job *batchv1.Job) []types.UID {
	if u := job.Status.UncountedTerminatedPods; u != nil {
		return slices.Concat(u.Succeeded, u.Failed)
	}
	return nil
}

// lookUp finds the newest state of pods that the handlers never heard of, or not for long: they may be gone by now.
func (c *Controller) lookUp(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod, find func(context.Context, *corev1.Pod) (*corev1.Pod, error)) error {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return c.each(ctx, pods, func(p *corev1.Pod) error {
		found, err := find(ctx, p)
		switch {
		case err != nil:
			return fmt.Errorf("asking for pod %s/%s: %w", p.Namespace, p.Name, err)
		case found == nil || found.UID != p.UID:
			c.podCache.Gone(p.UID)
		default:
			c.podCache.Answered(job.UID, found)
		}
		return nil
	})
}

// storedPod returns what the server has under the name of p, or nil.
func (c *Controller) storedPod(ctx context.Context, p *corev1.Pod) (*corev1.Pod, error) {
	found, err := c.client.Pods().Get(ctx, p.Namespace, p.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return found, err
}

// shownPod returns what the informer shows under the name of p, of which the handlers hear a little later, or nil.
func (c *Controller) shownPod(_ context.Context, p *corev1.Pod) (*corev1.Pod, error) {
	shown := loop.Shown[*corev1.Pod](c.pods, loop.Key(p))
	if shown == nil {
		return nil, nil
	}
	if shown.UID != p.UID || loop.Older(p, shown) {
		return shown, nil
	}
	return p, nil
}
