package job

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/job"
)

// externalStatus is the newest status of a Job that this controller did not write: the first that it observes, or one
// whose write the controller before it had begun. It may count pods that the informer still shows with their
// finalizer, and these must not be counted again. The resource versions of a Job and its pods cannot be compared, as
// the two may be stored apart; so the pods are listed live after such a status.
type externalStatus struct {
	// last is the Job as the last decision saw it or the last write left it.
	last *batchv1.Job
	// counts means that the status counts pods, or lists some as terminated.
	counts bool
	// version is the resource version of the list of pods; empty before that was read.
	version string
	// stateKnown has the pods that were read live after the status.
	stateKnown sets.Set[types.UID]
	// needsConfirm means that pods were read live, and it is not known yet whether the Job has a newer status.
	needsConfirm bool
}

// observe takes in the Job that the next decision is about.
func (f *externalStatus) observe(job *batchv1.Job) {
	known := f.last != nil && (f.last.ResourceVersion == job.ResourceVersion || equality.Semantic.DeepEqual(f.last.Status, job.Status))
	f.last = job
	if !known {
		counts := job.Status.Succeeded+job.Status.Failed > 0 || len(core.Listed(job)) > 0
		*f = externalStatus{last: job, counts: counts, stateKnown: sets.New[types.UID](), needsConfirm: f.needsConfirm}
	}
}

// maybeDoubleCounted returns the pods that the next decision could count for the second time: those that have the
// finalizer as far as is known, and may have lost it before the status was written. Running pods are among them, as
// they are counted if the Job fails, and orphan pods, as they are counted once adopted.
func (f *externalStatus) maybeDoubleCounted(job *batchv1.Job, pods []*corev1.Pod) []*corev1.Pod {
	if !f.counts {
		return nil
	}
	certain := sets.New(core.Listed(job)...)
	return slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool {
		settled := !core.HasFinalizer(p) && metav1.GetControllerOfNoCopy(p) != nil
		return settled || certain.Has(p.UID) || f.stateKnown.Has(p.UID) || loop.OlderVersion(f.version, p.ResourceVersion)
	})
}

// catchUp reads the pods live that an external status may count.
func (c *Controller) catchUp(ctx context.Context, job *batchv1.Job, f *externalStatus) error {
	if !f.counts {
		return nil
	}
	pods := c.podCache.pods(job.UID)
	if f.version == "" && len(core.Listed(job))+len(f.maybeDoubleCounted(job, pods)) > 0 {
		if err := c.listPods(ctx, job, f, pods); err != nil {
			return fmt.Errorf("listing the pods of Job %s/%s: %w", job.Namespace, job.Name, err)
		}
	}
	if suspects := f.maybeDoubleCounted(job, pods); len(suspects) > 0 {
		f.needsConfirm = true
		if err := c.getNewest(ctx, job, suspects); err != nil {
			return err
		}
		for _, p := range suspects {
			f.stateKnown.Insert(p.UID)
		}
	}
	if !f.needsConfirm {
		return nil
	}
	err := c.confirm(ctx, job)
	f.needsConfirm = err != nil
	return err
}

// listPods observes the live pods of a Job. Where one is missing that the status lists, its labels may have been
// changed, and all pods of the namespace are listed.
func (c *Controller) listPods(ctx context.Context, job *batchv1.Job, f *externalStatus, known []*corev1.Pod) error {
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		return err
	}
	unseen := sets.New(core.Listed(job)...)
	wanted := sets.New[types.UID]()
	for _, p := range known {
		wanted.Insert(p.UID)
	}
	take := func(p *corev1.Pod) {
		unseen.Delete(p.UID)
		if wanted.Has(p.UID) || metav1.IsControlledBy(p, job) && (core.IsRelevant(p) || !c.isCached(p)) {
			f.stateKnown.Insert(p.UID)
			c.podCache.ObserveWrite(job.UID, p)
		}
	}
	f.needsConfirm = true
	version, err := c.client.Pods().List(ctx, job.Namespace, selector, take)
	if err == nil && unseen.Len() > 0 {
		version, err = c.client.Pods().List(ctx, job.Namespace, labels.Everything(), take)
	}
	if err == nil {
		f.version = version
	}
	return err
}

// isCached reports whether the informer shows a pod in this version or a newer one.
func (c *Controller) isCached(p *corev1.Pod) bool {
	shown := loop.Cached[*corev1.Pod](c.podInformer, loop.Key(p))
	return shown != nil && shown.UID == p.UID && !loop.Older(shown, p)
}
