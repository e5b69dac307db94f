package run

import (
	"context"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/cli/target"
)

// watcher watches the Jobs of a run and their pods.
type watcher struct {
	*connection
	note func(string)
	jobs *tracker
	pods *podReader
	// earlierPods has an empty list per namespace, with a resource version from before this run had pods there: see markPods.
	earlierPods map[string]*corev1.PodList
	// gone gets a server that no longer listens.
	gone chan *target.Target

	mu sync.Mutex
	// lostAt is when it was last shown that the server does not answer.
	lostAt time.Time
}

// watch starts watches that run until ctx ends.
func (w *watcher) watch(ctx context.Context) {
	if w.target.Kind == target.Local {
		go w.guard(ctx, w.target)
	}
	few := w.jobs.fewPods()
	for namespace, jobs := range byNamespace(w.jobs.all()) {
		go w.missing(ctx, w.watchJobs(ctx, namespace, jobs), jobs)
		for _, selector := range podSelectors(jobs) {
			w.watchPods(ctx, namespace, watchedPods(w.pods.show, selector, few))
		}
	}
}

func (w *watcher) watchJobs(ctx context.Context, namespace string, jobs []*batchv1.Job) cache.SharedInformer {
	var one string
	if len(jobs) == 1 {
		one = fields.OneTermEqualSelector("metadata.name", jobs[0].Name).String()
	}
	from := source{client: w.batch().RESTClient(), resource: "jobs", namespace: namespace, kind: &batchv1.Job{},
		options: metav1.ListOptions{FieldSelector: one}}
	if known := asCreated(jobs); known != nil && !w.moved {
		from.known = known
	}
	return w.inform(ctx, from, func(obj any, now objectState) {
		if job, ok := obj.(*batchv1.Job); ok {
			w.jobs.seen(job, now)
		}
	})
}

func (w *watcher) watchPods(ctx context.Context, namespace string, which metav1.ListOptions) {
	from := source{client: w.core().RESTClient(), resource: "pods", namespace: namespace, kind: &corev1.Pod{}, options: which}
	if known := w.earlierPods[namespace]; known != nil && !w.moved {
		from.known = known
	}
	w.inform(ctx, from, func(obj any, now objectState) {
		if pod, ok := obj.(*corev1.Pod); ok {
			w.pods.seen(pod, now != present)
		}
	})
}

// missing finds the Jobs that were deleted before the watch began, which will never show them.
func (w *watcher) missing(ctx context.Context, informer cache.SharedInformer, jobs []*batchv1.Job) {
	if !cache.WaitFor(ctx, "", informer.HasSyncedChecker()) {
		return
	}
	for _, job := range jobs {
		obj, found, err := informer.GetStore().Get(job)
		if err == nil && (!found || obj.(*batchv1.Job).UID != job.UID) {
			w.jobs.seen(job, deletedUnseen)
		}
	}
}

// source says what a watch watches.
type source struct {
	client    rest.Interface
	resource  string
	namespace string
	kind      runtime.Object
	options   metav1.ListOptions
	// known is used as the first list, if it is not nil.
	known runtime.Object
}

func (w *watcher) inform(ctx context.Context, from source, see func(obj any, now objectState)) cache.SharedInformer {
	lw := cache.NewFilteredListWatchFromClient(from.client, from.resource, from.namespace, func(o *metav1.ListOptions) {
		o.LabelSelector, o.FieldSelector = from.options.LabelSelector, from.options.FieldSelector
	})
	var watched cache.ListerWatcher = lw
	if from.known != nil {
		watched = watchSince(lw, from.known)
	}
	informer := cache.NewSharedInformer(watched, from.kind, 0)
	// These calls fail only if the informer is running already.
	_ = informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, _ *cache.Reflector, err error) { w.lost(ctx, err) })
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { see(obj, present) },
		UpdateFunc: func(_, obj any) { see(obj, present) },
		DeleteFunc: func(obj any) {
			if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				see(unknown.Obj, deletedUnseen)
				return
			}
			see(obj, deleted)
		},
	})
	go informer.RunWithContext(ctx)
	return informer
}

// lost shows, once a minute, that the server does not answer. The watches retry.
func (w *watcher) lost(ctx context.Context, err error) {
	if ctx.Err() != nil || !unreachable(err) {
		return
	}
	w.mu.Lock()
	now := time.Now()
	again := now.Sub(w.lostAt) > time.Minute
	if again {
		w.lostAt = now
	}
	w.mu.Unlock()
	if again {
		w.note("the server does not answer; trying again: " + err.Error())
	}
}

// guard sends the server to gone when it no longer listens, as the watches would retry for ever.
func (w *watcher) guard(ctx context.Context, server *target.Target) {
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
			case w.gone <- server:
			default:
			}
		}
	}
}
