package resultslice

import (
	"cmp"
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/results"
)

// findStored lists the slices of the Job if an earlier controller may have stored some. It returns the results of more that
// no slice holds.
func (s *sequence) findStored(ctx context.Context, job *batchv1.Job, more []stintv1.PodResult) ([]stintv1.PodResult, error) {
	if s.known || !mayHaveResults(job) {
		s.known = true
		return more, nil
	}
	var found []sliceRef
	ended := sets.New[types.UID]()
	_, err := s.client.List(ctx, job.Namespace, results.SlicesOf(job), func(slice *stintv1.ResultSlice) {
		if !metav1.IsControlledBy(slice, job) {
			return
		}
		found = append(found, refTo(slice))
		for i := range slice.Results {
			if slice.Results[i].FinishedAt != nil {
				ended.Insert(slice.Results[i].UID)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b sliceRef) int {
		return cmp.Or(cmp.Compare(a.before, b.before), cmp.Compare(a.name, b.name))
	})
	s.earlier, s.known = found, true
	for _, ref := range found {
		s.next = max(s.next, ref.end())
	}
	return slices.DeleteFunc(slices.Clone(more), func(p stintv1.PodResult) bool { return ended.Has(p.UID) }), nil
}

// mayHaveResults reports whether the status lists or counts a pod. Before that, no controller has stored a result.
func mayHaveResults(job *batchv1.Job) bool {
	return job.Status.Succeeded+job.Status.Failed > 0 || len(core.Listed(job)) > 0
}

// deleteOldest deletes the oldest slices until at most atMost results are left. It ignores a cancelled ctx, as there may
// be no later sync to go on.
func (s *sequence) deleteOldest(ctx context.Context, job *batchv1.Job, atMost int) error {
	ctx = context.WithoutCancel(ctx)
	if _, err := s.findStored(ctx, job, nil); err != nil {
		return err
	}
	for n := s.size(); n > atMost && len(s.earlier) > 0; s.earlier = s.earlier[1:] {
		oldest := s.earlier[0]
		gone := &stintv1.ResultSlice{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: oldest.name, UID: oldest.uid}}
		err := s.client.Delete(ctx, gone, client.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return err
		}
		n -= oldest.n
	}
	return nil
}

// size returns how many results are stored.
func (s *sequence) size() (n int) {
	if s.open != nil {
		n = len(s.open.Results)
	}
	for _, ref := range s.earlier {
		n += ref.n
	}
	return n
}
