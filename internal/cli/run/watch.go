package run

import (
	"context"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/podlog"
	"github.com/stint-dev/stint/internal/cli/target"
)

// manyJobs of one namespace are followed by one watch over all pods instead of one that lists them.
const manyJobs = 50

// watch follows Jobs and pods until ctx ends.
func (s *session) watch(ctx context.Context) {
	if s.target.Kind == target.Local {
		go s.guard(ctx, s.target)
	}
	few := s.fewPods()
	for namespace, jobs := range s.byNamespace() {
		var one string
		if len(jobs) == 1 {
			one = fields.OneTermEqualSelector("metadata.name", jobs[0].Name).String()
		}
		from := source{client: s.batch().RESTClient(), resource: "jobs", namespace: namespace, kind: &batchv1.Job{},
			options: metav1.ListOptions{FieldSelector: one}}
		if known := asCreated(jobs); known != nil && !s.moved {
			from.known = known
		}
		informer := s.inform(ctx, from, func(obj any, now fate) {
			if job, ok := obj.(*batchv1.Job); ok {
				s.seen(job, now)
			}
		})
		go s.missing(ctx, informer, jobs)
		for _, selector := range podSelectors(jobs) {
			from := source{client: s.core().RESTClient(), resource: "pods", namespace: namespace, kind: &corev1.Pod{},
				options: s.watched(selector, few)}
			if known := s.podless[namespace]; known != nil && !s.moved {
				from.known = known
			}
			s.inform(ctx, from, func(obj any, now fate) {
				if pod, ok := obj.(*corev1.Pod); ok {
					s.seenPod(pod, now != there)
				}
			})
		}
	}
}

// missing finds the Jobs that were gone before the watch began: it will never tell of them.
func (s *session) missing(ctx context.Context, informer cache.SharedInformer, jobs []*batchv1.Job) {
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return
	}
	for _, job := range jobs {
		obj, found, err := informer.GetStore().Get(job)
		if err == nil && (!found || obj.(*batchv1.Job).UID != job.UID) {
			s.seen(job, vanished)
		}
	}
}

// source is what a watch looks at.
type source struct {
	client    rest.Interface
	resource  string
	namespace string
	kind      runtime.Object
	options   metav1.ListOptions
	// known stands for the first list; nil asks for one.
	known runtime.Object
}

func (s *session) inform(ctx context.Context, from source, see func(obj any, now fate)) cache.SharedInformer {
	lw := cache.NewFilteredListWatchFromClient(from.client, from.resource, from.namespace, func(o *metav1.ListOptions) {
		o.LabelSelector, o.FieldSelector = from.options.LabelSelector, from.options.FieldSelector
	})
	var watched cache.ListerWatcher = lw
	if from.known != nil {
		watched = watchSince(lw, from.known)
	}
	informer := cache.NewSharedInformer(watched, from.kind, 0)
	// Errors of this call mean that the informer runs already, and this one does not.
	_ = informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, _ *cache.Reflector, err error) { s.lost(ctx, err) })
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { see(obj, there) },
		UpdateFunc: func(_, obj any) { see(obj, there) },
		DeleteFunc: func(obj any) {
			if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				see(unknown.Obj, vanished)
				return
			}
			see(obj, deleted)
		},
	})
	go informer.RunWithContext(ctx)
	return informer
}

func (s *session) byNamespace() map[string][]*batchv1.Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	jobs := map[string][]*batchv1.Job{}
	for _, t := range s.jobs {
		jobs[t.job.Namespace] = append(jobs[t.job.Namespace], t.job)
	}
	return jobs
}

// podOptions leaves out pods that nobody will hear of.
func (s *session) podOptions(selector string) metav1.ListOptions {
	o := metav1.ListOptions{LabelSelector: selector}
	if s.opts.Logs != LogsAll {
		o.FieldSelector = failedPods
	}
	return o
}

// fewEnough pods are watched while they wait and run, too, for a run that shows no logs of them.
const fewEnough = 1000

// fewPods reports whether the Jobs of this run want few pods.
func (s *session) fewPods() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var pods int64
	for _, t := range s.jobs {
		pods += int64(max(ptr.Deref(t.job.Spec.Parallelism, 1), ptr.Deref(t.job.Spec.Completions, 1)))
	}
	return pods <= fewEnough
}

// watched is podOptions with, where they are few, the pods that may be said to wait.
func (s *session) watched(selector string, few bool) metav1.ListOptions {
	o := s.podOptions(selector)
	if few && o.FieldSelector != "" {
		o.FieldSelector = unsucceededPods
	}
	return o
}

// unsucceededPods selects pods that did not succeed.
var unsucceededPods = fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)).String()

// failedPods selects pods that failed.
var failedPods = fields.OneTermEqualSelector("status.phase", string(corev1.PodFailed)).String()

// podSelectors select the pods of Jobs. A Job with a selector of its own needs a watch of its own.
func podSelectors(jobs []*batchv1.Job) []string {
	var selectors, uids []string
	for _, job := range jobs {
		if job.Spec.ManualSelector != nil && *job.Spec.ManualSelector {
			selectors = append(selectors, metav1.FormatLabelSelector(job.Spec.Selector))
			continue
		}
		uids = append(uids, string(job.UID))
	}
	slices.Sort(uids)
	switch {
	case len(uids) > manyJobs:
		selectors = append(selectors, batchv1.ControllerUidLabel)
	case len(uids) > 0:
		selectors = append(selectors, batchv1.ControllerUidLabel+" in ("+strings.Join(uids, ",")+")")
	}
	return selectors
}

// seenPod takes in the state of a pod, of this run or not.
func (s *session) seenPod(pod *corev1.Pod, gone bool) {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return
	}
	s.mu.Lock()
	t, ours := s.jobs[owner.UID]
	if ours {
		t.waits.observe(pod, gone)
		if gone {
			s.wentAt = time.Now()
		}
	}
	// What an interrupt ends has not failed.
	ended := ours && s.halt.deleting[owner.UID] && pod.DeletionTimestamp != nil
	news := ours && !ended && pod.Status.Phase == corev1.PodFailed && !s.failedPods[pod.UID]
	if news {
		s.failedPods[pod.UID] = true
		t.failure = podFailure(t.ref, pod).Phrase()
	}
	s.mu.Unlock()
	if !ours {
		return
	}
	if news {
		s.out.PodFailed(podFailure(podlog.JobOf(pod), pod))
	}
	if s.logs != nil {
		s.logs.Observe(pod)
	}
}

// lost tells the user, once a minute, that the server does not answer. The watches go on trying.
func (s *session) lost(ctx context.Context, err error) {
	if ctx.Err() != nil || !unreachable(err) {
		return
	}
	s.mu.Lock()
	now := time.Now()
	again := now.Sub(s.lostAt) > time.Minute
	if again {
		s.lostAt = now
	}
	s.mu.Unlock()
	if again {
		s.out.Note("the server does not answer; trying again: " + err.Error())
	}
}

// guard notices when nothing listens any more where a server on this machine was: watches would try for ever.
func (s *session) guard(ctx context.Context, server *target.Target) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !server.Listens(ctx) && ctx.Err() == nil {
			select {
			case s.gone <- server:
			default:
			}
		}
	}
}
