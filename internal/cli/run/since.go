package run

import (
	"context"
	"fmt"
	"sync/atomic"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/cli/output"
)

// watchFrom starts a watch from known objects instead of a first list: a Job may be deleted before a list shows it, and the watch
// shows that only if it starts at an earlier resource version.
type watchFrom struct {
	*cache.ListWatch
	known atomic.Pointer[runtime.Object]
}

func watchSince(lw *cache.ListWatch, known runtime.Object) *watchFrom {
	s := &watchFrom{ListWatch: lw}
	s.known.Store(&known)
	return s
}

// ListWithContext returns the known objects the first time. Later lists, after a lost watch, ask the server.
func (s *watchFrom) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	if known := s.known.Swap(nil); known != nil {
		return *known, nil
	}
	return s.ListWatch.ListWithContext(ctx, o)
}

// IsWatchListSemanticsUnSupported makes the reflector call ListWithContext.
func (*watchFrom) IsWatchListSemanticsUnSupported() bool { return true }

// asCreated returns a list of the Jobs with the oldest of their resource versions; nil if these cannot be compared.
func asCreated(jobs []*batchv1.Job) *batchv1.JobList {
	list := &batchv1.JobList{}
	for _, job := range jobs {
		order, err := resourceversion.CompareResourceVersion(job.ResourceVersion, list.ResourceVersion)
		if list.ResourceVersion != "" && err != nil || job.ResourceVersion == "" {
			return nil
		}
		if list.ResourceVersion == "" || order < 0 {
			list.ResourceVersion = job.ResourceVersion
		}
		list.Items = append(list.Items, *job)
	}
	return list
}

// markPods records, before the Jobs are created, a resource version to watch their pods from. It does so for namespaces with
// Jobs that have a TTL, as these may be deleted with their pods before a list shows them.
func (w *watcher) markPods(ctx context.Context, plans []*plan) error {
	if w.pods.logs == nil {
		return nil
	}
	brief, followed := map[string]bool{}, map[string]bool{}
	for _, p := range plans {
		namespace := p.object.Typed.GetNamespace()
		brief[namespace] = brief[namespace] || p.job.Spec.TTLSecondsAfterFinished != nil
		followed[namespace] = followed[namespace] || p.how == output.Followed
	}
	w.earlierPods = map[string]*corev1.PodList{}
	for namespace := range brief {
		if !brief[namespace] || followed[namespace] {
			continue
		}
		list, err := w.core().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return fmt.Errorf("list pods: %w", err)
		}
		w.earlierPods[namespace] = &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: list.ResourceVersion}}
	}
	return nil
}
