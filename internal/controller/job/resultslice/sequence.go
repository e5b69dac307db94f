package resultslice

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/results"
)

// sequence is the slices of one Job. Each slice says in Before how many results precede its own.
type sequence struct {
	client client.Resource[*stintv1.ResultSlice]
	limits results.Limits

	// open is the slice that results are added to; nil if the next result needs a new slice.
	open *stintv1.ResultSlice
	// earlier are the slices before it, oldest first.
	earlier []sliceRef
	// next is Before of the next slice.
	next int64
	// known means that open, earlier and next are all the slices that the server has of the Job.
	known bool
}

// sliceRef is what it takes to delete a slice and to number the results after it.
type sliceRef struct {
	name   string
	uid    types.UID
	before int64
	n      int
}

func refTo(slice *stintv1.ResultSlice) sliceRef {
	return sliceRef{name: slice.Name, uid: slice.UID, before: slice.Before, n: len(slice.Results)}
}

// end is Before of the slice that follows.
func (r sliceRef) end() int64 { return r.before + int64(r.n) }

// write stores results in as few requests as possible. It ignores a cancelled ctx once it has begun. If it fails, the pods
// keep their finalizers, so their results can be stored later.
func (s *sequence) write(ctx context.Context, job *batchv1.Job, more []stintv1.PodResult) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ctx = context.WithoutCancel(ctx)
	if s.open != nil {
		var err error
		if more, err = s.extend(ctx, more); len(more) == 0 || err != nil {
			return err
		}
	}
	more, err := s.findStored(ctx, job, more)
	if err != nil {
		return err
	}
	for len(more) > 0 {
		if more, err = s.begin(ctx, job, more); err != nil {
			return err
		}
	}
	return nil
}

// maxAppendedResults is how many results a slice may have and still be extended. To extend a slice, all of it is written
// again, and sent again to every client that watches; a new slice costs one request too.
const maxAppendedResults = 20

// extend adds results to the open slice if that is small and has room for all of them. It returns the results that are not
// stored yet.
func (s *sequence) extend(ctx context.Context, more []stintv1.PodResult) (rest []stintv1.PodResult, err error) {
	grown := s.open.DeepCopy()
	if len(s.open.Results) > maxAppendedResults || len(results.Append(grown, more, s.limits)) > 0 {
		s.close()
		return more, nil
	}
	changed, err := s.client.Modify(ctx, s.open, func(slice *stintv1.ResultSlice) { rest = results.Append(slice, more, s.limits) })
	if apierrors.IsNotFound(err) {
		s.close()
		s.known = false
		return more, nil
	}
	if err != nil {
		return more, err
	}
	s.open = changed
	return rest, nil
}

// close makes the open slice an earlier one.
func (s *sequence) close() {
	ref := refTo(s.open)
	s.earlier, s.next, s.open = append(s.earlier, ref), ref.end(), nil
}

// begin creates a slice with as many of the results as fit into one, and returns the others.
func (s *sequence) begin(ctx context.Context, job *batchv1.Job, more []stintv1.PodResult) (rest []stintv1.PodResult, err error) {
	if s.open != nil {
		s.close()
	}
	slice := newSlice(job, s.next)
	rest = results.Append(slice, more, s.limits)
	created, err := s.client.Create(ctx, slice)
	if err != nil {
		s.known = false // The server may have created it all the same.
		return more, err
	}
	s.open = created
	return rest, nil
}

func newSlice(job *batchv1.Job, before int64) *stintv1.ResultSlice {
	slice := &stintv1.ResultSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, GenerateName: job.Name + "-",
			Labels:          map[string]string{batchv1.ControllerUidLabel: string(job.UID)},
			OwnerReferences: []metav1.OwnerReference{core.ControllerRef(job)},
		},
		Before: before,
	}
	if len(job.Name) <= validation.LabelValueMaxLength {
		slice.Labels[batchv1.JobNameLabel] = job.Name
	}
	return slice
}
