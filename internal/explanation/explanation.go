// Package explanation observes a Job and all that an explanation of it needs, through the registry of this process or
// over the network, so that both give the same explanation:
//
//	Job, its pods and what they need, the Jobs it waits for, results, events ──► explain.Job ──► JobExplanation
//
// It only reads, and knows no more of the Job's past than a controller that has just started.
package explanation

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/cronjob"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/job/explain"
	"github.com/stint-dev/stint/internal/podneeds"
	"github.com/stint-dev/stint/internal/results"
)

// Client reads the objects.
type Client interface {
	Jobs() client.Resource[*batchv1.Job]
	Pods() client.Resource[*corev1.Pod]
	ResultSlices() client.Resource[*stintv1.ResultSlice]
}

// Events lists the events about one object.
type Events func(ctx context.Context, namespace string, object types.UID) ([]corev1.Event, error)

// Get reads an object that pods need.
type Get func(ctx context.Context, kind podneeds.Kind, namespace, name string) (metav1.Object, error)

// Observer explains Jobs.
type Observer struct {
	Client Client
	Events Events
	Get    Get
	// Settings are those of the Job controller.
	Settings core.Settings
	// TimesAssumed is set if they are the defaults, as the controller's are not known.
	TimesAssumed bool
	// NoController is set if no controller runs.
	NoController bool
}

// Explain returns the explanation of a Job at the time now.
func (o *Observer) Explain(ctx context.Context, namespace, name string, now time.Time) (*stintv1.JobExplanation, error) {
	job, err := o.Client.Jobs().Get(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	pods, err := o.pods(ctx, job)
	if err != nil {
		return nil, fmt.Errorf("the pods of Job %s: %w", name, err)
	}
	pods = o.withPulls(ctx, pods)
	obs := core.ObserveStored(job, pods, now, o.Settings)
	if obs.Dependencies, err = o.dependencies(ctx, job); err != nil {
		return nil, err
	}
	about := explain.Circumstances{TimesAssumed: o.TimesAssumed, NoController: o.NoController, Largest: o.largest(ctx, pods)}
	if about.Results, err = o.results(ctx, job, pods); err != nil {
		return nil, err
	}
	if about.Events, err = o.events(ctx, job, pods); err != nil {
		return nil, fmt.Errorf("events of Job %s: %w", name, err)
	}
	if about.Dependents, err = o.dependents(ctx, job); err != nil {
		return nil, err
	}
	if about.Holders, err = o.holders(ctx, job); err != nil {
		return nil, fmt.Errorf("the runs that Job %s waits for: %w", name, err)
	}
	if err := o.needs(ctx, job, pods, &about); err != nil {
		return nil, fmt.Errorf("what the pods of Job %s need: %w", name, err)
	}
	x := explain.Job(obs, about)
	return &x, nil
}

// pods lists the pods that the Job controls or could adopt.
func (o *Observer) pods(ctx context.Context, job *batchv1.Job) (pods []*corev1.Pod, err error) {
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		return nil, err
	}
	_, err = o.Client.Pods().List(ctx, job.Namespace, selector, func(p *corev1.Pod) {
		if owner := metav1.GetControllerOfNoCopy(p); owner == nil || owner.UID == job.UID {
			pods = append(pods, p)
		}
	})
	return pods, err
}

func (o *Observer) dependencies(ctx context.Context, job *batchv1.Job) ([]core.Dependency, error) {
	var list []core.Dependency
	for _, d := range core.UnmetDependencies(job) {
		other, err := o.Client.Jobs().Get(ctx, job.Namespace, d.Job)
		switch {
		case apierrors.IsNotFound(err):
			list = append(list, core.Dependency{Name: d.Job})
		case err != nil:
			return nil, fmt.Errorf("getting Job %s, a dependency: %w", d.Job, err)
		default:
			list = append(list, core.Dependency{Name: d.Job, Job: other})
		}
	}
	return list, nil
}

// results returns the results of the Job's pods. ResultSlices are left out if the cluster does not have that kind or the
// user may not list it.
func (o *Observer) results(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) ([]stintv1.PodResult, error) {
	var kept []stintv1.ResultSlice
	var err error
	if job.Status.Failed > 0 {
		_, err = o.Client.ResultSlices().List(ctx, job.Namespace, results.SlicesOf(job), func(s *stintv1.ResultSlice) { kept = append(kept, *s) })
	}
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("the results of Job %s: %w", job.Name, err)
	}
	var list []stintv1.PodResult
	for _, r := range results.Merge(job, kept, pods).Items {
		list = append(append(list, r.Earlier...), r.PodResult)
	}
	return list, nil
}

// maxPodsWithEvents is of how many starting pods the events are read: only events report problems with volumes.
const maxPodsWithEvents = 3

func (o *Observer) events(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) ([]corev1.Event, error) {
	if core.Finished(job) {
		return nil, nil
	}
	list, err := o.Events(ctx, job.Namespace, job.UID)
	asked := 0
	for _, p := range pods {
		if err == nil && p.Status.Phase == corev1.PodPending && p.Spec.NodeName != "" && asked < maxPodsWithEvents {
			var more []corev1.Event
			more, err = o.Events(ctx, p.Namespace, p.UID)
			list, asked = append(list, more...), asked+1
		}
	}
	if apierrors.IsForbidden(err) {
		return list, nil
	}
	return list, err
}

// holders returns the earlier runs of the same schedule that have not finished, if a concurrency policy holds the Job.
func (o *Observer) holders(ctx context.Context, job *batchv1.Job) (names []string, err error) {
	owner := metav1.GetControllerOf(job)
	if owner == nil || !core.IsHeld(job) {
		return nil, nil
	}
	_, err = o.Client.Jobs().List(ctx, job.Namespace, labels.Everything(), func(other *batchv1.Job) {
		of := metav1.GetControllerOfNoCopy(other)
		if of != nil && of.UID == owner.UID && cronjob.ByAge(other, job) < 0 && !core.Finished(other) {
			names = append(names, "job "+other.Name)
		}
	})
	slices.Sort(names)
	return names, err
}

// dependents returns what a foreground deletion waits for besides pods, as KIND/NAME; nothing if the client cannot list
// every kind.
func (o *Observer) dependents(ctx context.Context, job *batchv1.Job) (names []string, err error) {
	all, ok := o.Client.(interface{ Kinds() []client.Kind })
	if !ok || !slices.Contains(job.Finalizers, metav1.FinalizerDeleteDependents) {
		return nil, nil
	}
	for _, kind := range all.Kinds() {
		if !kind.Namespaced || kind.Kind == "Pod" {
			continue
		}
		_, err = kind.List(ctx, job.Namespace, labels.Everything(), func(obj client.Object) {
			owned := slices.ContainsFunc(obj.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == job.UID })
			if owned {
				names = append(names, kind.Kind+"/"+obj.GetName())
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}
