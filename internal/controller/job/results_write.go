package job

import (
	"cmp"
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/results"
)

// sliceRef is what must be known of a slice to delete it.
type sliceRef struct {
	name   string
	uid    types.UID
	before int64
	n      int
}

// write stores results in as few writes as may be. It is finished once begun: the pods are still there if it is not.
func (r *resultKeeper) write(ctx context.Context, job *batchv1.Job, k *kept, more []stintv1.PodResult) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ctx = context.WithoutCancel(ctx)
	if k.slice != nil {
		var err error
		if more, err = r.extend(ctx, k, more); len(more) == 0 || err != nil {
			return err
		}
	}
	more, err := r.lookUp(ctx, job, k, more)
	if err != nil {
		return err
	}
	for len(more) > 0 {
		if more, err = r.begin(ctx, job, k, more); err != nil {
			return err
		}
	}
	return nil
}

// rewritten is how many results a slice may have and still be added to. All of them are written, and read by those who
// watch, once more; a new slice takes as many writes.
const rewritten = 20

// extend adds results to the present slice if it is small and has room for all of them, and returns those that are still
// to be written.
func (r *resultKeeper) extend(ctx context.Context, k *kept, more []stintv1.PodResult) (rest []stintv1.PodResult, err error) {
	grown := k.slice.DeepCopy()
	if len(k.slice.Results) > rewritten || len(results.Append(grown, more, r.limits)) > 0 {
		k.close()
		return more, nil
	}
	changed, err := r.slices.Modify(ctx, k.slice, func(s *stintv1.ResultSlice) { rest = results.Append(s, more, r.limits) })
	if apierrors.IsNotFound(err) {
		k.close()
		k.known = false
		return more, nil
	}
	if err != nil {
		return more, err
	}
	k.slice = changed
	return rest, nil
}

// close ends the present slice.
func (k *kept) close() {
	s := k.slice
	ref := sliceRef{s.Name, s.UID, s.Before, len(s.Results)}
	k.earlier, k.next, k.slice = append(k.earlier, ref), ref.before+int64(ref.n), nil
}

// begin stores a slice with as many of the results as it holds, and returns the others.
func (r *resultKeeper) begin(ctx context.Context, job *batchv1.Job, k *kept, more []stintv1.PodResult) (rest []stintv1.PodResult, err error) {
	if k.slice != nil {
		k.close()
	}
	slice := newSlice(job, k.next)
	rest = results.Append(slice, more, r.limits)
	created, err := r.slices.Create(ctx, slice)
	if err != nil {
		k.known = false // It may be there all the same.
		return more, err
	}
	k.slice = created
	return rest, nil
}

func newSlice(job *batchv1.Job, before int64) *stintv1.ResultSlice {
	s := &stintv1.ResultSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, GenerateName: job.Name + "-",
			Labels:          map[string]string{batchv1.ControllerUidLabel: string(job.UID)},
			OwnerReferences: []metav1.OwnerReference{core.ControllerRef(job)},
		},
		Before: before,
	}
	if len(job.Name) <= validation.LabelValueMaxLength {
		s.Labels[batchv1.JobNameLabel] = job.Name
	}
	return s
}

// makeRoom deletes the oldest slices where there are more results than are kept. It is finished once begun: no other sync
// may follow that would.
func (r *resultKeeper) makeRoom(ctx context.Context, job *batchv1.Job, k *kept) error {
	ctx = context.WithoutCancel(ctx)
	if _, err := r.lookUp(ctx, job, k, nil); err != nil {
		return err
	}
	for n := k.size(); n > r.max && len(k.earlier) > 0; k.earlier = k.earlier[1:] {
		oldest := k.earlier[0]
		gone := &stintv1.ResultSlice{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: oldest.name, UID: oldest.uid}}
		err := r.slices.Delete(ctx, gone, client.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return err
		}
		n -= oldest.n
	}
	return nil
}

// size is how many results are stored.
func (k *kept) size() (n int) {
	if k.slice != nil {
		n = len(k.slice.Results)
	}
	for _, s := range k.earlier {
		n += s.n
	}
	return n
}

// lookUp finds the slices that are not known, if there may be any, and returns the results that are not in them.
func (r *resultKeeper) lookUp(ctx context.Context, job *batchv1.Job, k *kept, more []stintv1.PodResult) ([]stintv1.PodResult, error) {
	if k.known || !endedBefore(job) {
		k.known = true
		return more, nil
	}
	var found []sliceRef
	ended := sets.New[types.UID]()
	_, err := r.slices.List(ctx, job.Namespace, results.SlicesOf(job), func(s *stintv1.ResultSlice) {
		if !metav1.IsControlledBy(s, job) {
			return
		}
		found = append(found, sliceRef{s.Name, s.UID, s.Before, len(s.Results)})
		for i := range s.Results {
			if s.Results[i].FinishedAt != nil {
				ended.Insert(s.Results[i].UID)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b sliceRef) int {
		return cmp.Or(cmp.Compare(a.before, b.before), cmp.Compare(a.name, b.name))
	})
	k.earlier, k.known = found, true
	for _, s := range found {
		k.next = max(k.next, s.before+int64(s.n))
	}
	return slices.DeleteFunc(slices.Clone(more), func(p stintv1.PodResult) bool { return ended.Has(p.UID) }), nil
}

// endedBefore tells whether pods have ended of which another process may have kept the results. Else there are no slices.
func endedBefore(job *batchv1.Job) bool {
	return job.Status.Succeeded+job.Status.Failed > 0 || len(core.Listed(job)) > 0
}
