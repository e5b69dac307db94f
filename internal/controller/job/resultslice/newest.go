package resultslice

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podstatus"
	"github.com/stint-dev/stint/internal/results"
)

// resultsOf returns what came of pods by the newest that is known of each.
func (s *Store) resultsOf(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) (all []stintv1.PodResult, err error) {
	listed := sets.New(core.Listed(job)...)
	for _, p := range pods {
		newest, err := s.newest(ctx, p, listed.Has(p.UID))
		if err != nil {
			return nil, err
		}
		all = append(all, results.Of(newest))
	}
	return all, nil
}

// newest returns the newer version of a pod that ended after the decision to count it. If the status listed the pod before
// that decision, an earlier controller may have seen its end, and this one not: the server knows. What the informer shows
// later is noted.
func (s *Store) newest(ctx context.Context, p *corev1.Pod, listed bool) (*corev1.Pod, error) {
	if podstatus.IsTerminated(p) {
		return p, nil
	}
	newest := loop.Cached[*corev1.Pod](s.shown, loop.Key(p))
	if listed && (newest == nil || !podstatus.IsTerminated(newest)) {
		var err error
		newest, err = s.pods.Get(ctx, p.Namespace, p.Name)
		if apierrors.IsNotFound(err) {
			return p, nil
		}
		if err != nil {
			return nil, fmt.Errorf("asking how pod %s/%s ended: %w", p.Namespace, p.Name, err)
		}
	}
	if newest == nil || newest.UID != p.UID {
		return p, nil
	}
	return newest, nil
}
