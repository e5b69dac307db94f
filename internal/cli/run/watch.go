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
		informer := s.inform(ctx, source{s.batch().RESTClient(), "jobs", namespace, &batchv1.Job{}, metav1.ListOptions{FieldSelector: one}},
			func(obj any, gone bool) {
				if job, ok := obj.(*batchv1.Job); ok {
					s.seen(job, gone)
				}
			})
		go s.missing(ctx, informer, jobs)
		for _, selector := range podSelectors(jobs) {
			s.inform(ctx, source{s.core().RESTClient(), "pods", namespace, &corev1.Pod{}, s.watched(selector, few)},
				func(obj any, gone bool) {
					if pod, ok := obj.(*corev1.Pod); ok {
						s.seenPod(pod, gone)
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
			s.seen(job, true)
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
}

func (s *session) inform(ctx context.Context, from source, see func(obj any, gone bool)) cache.SharedInformer {
	lw := cache.NewFilteredListWatchFromClient(from.client, from.resource, from.namespace, func(o *metav1.ListOptions) {
		o.LabelSelector, o.FieldSelector = from.options.LabelSelector, from.options.FieldSelector
	})
	informer := cache.NewSharedInformer(lw, from.kind, 0)
	// Errors of this call mean that the informer runs already, and this one does not.
	_ = informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, _ *cache.Reflector, err error) { s.lost(ctx, err) })
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { see(obj, false) },
		UpdateFunc: func(_, obj any) { see(obj, false) },
		DeleteFunc: func(obj any) {
			if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = unknown.Obj
			}
			see(obj, true)
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

// fewPods tells whether the Jobs of this run want few pods.
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
	}
	news := ours && pod.Status.Phase == corev1.PodFailed && !s.failedPods[pod.UID]
	if news {
		s.failedPods[pod.UID] = true
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
