package model_test

import (
	"context"
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
)

// sliceResource has the requests that the Job controller sends for results.
type sliceResource struct {
	client.Resource[*stintv1.ResultSlice]
	process *process
}

func (r sliceResource) Create(ctx context.Context, o *stintv1.ResultSlice) (*stintv1.ResultSlice, error) {
	s := r.process.server
	return ask[*stintv1.ResultSlice](ctx, r.process, &request{verb: "create slice", object: o.GenerateName, do: func() (client.Object, error) {
		return s.createSlice(o), nil
	}})
}

func (r sliceResource) Modify(ctx context.Context, observed *stintv1.ResultSlice, edit func(*stintv1.ResultSlice)) (*stintv1.ResultSlice, error) {
	s := r.process.server
	return ask[*stintv1.ResultSlice](ctx, r.process, &request{verb: "modify slice", object: observed.Name, do: func() (client.Object, error) {
		now := s.slices.objects[observed.Name]
		if now == nil || now.UID != observed.UID {
			return nil, apierrors.NewNotFound(results, observed.Name)
		}
		is := now.DeepCopy()
		edit(is)
		s.slices.put(s.next(is), is)
		return is, nil
	}})
}

func (r sliceResource) List(ctx context.Context, _ string, selector labels.Selector, each func(*stintv1.ResultSlice)) error {
	s := r.process.server
	var found []*stintv1.ResultSlice
	_, err := ask[*metav1.PartialObjectMetadata](ctx, r.process, &request{verb: "list slices", object: selector.String(), do: func() (client.Object, error) {
		s.slices.each(func(o *stintv1.ResultSlice) {
			if selector.Matches(labels.Set(o.Labels)) {
				found = append(found, o)
			}
		})
		return &metav1.PartialObjectMetadata{}, nil
	}})
	if err != nil {
		return err
	}
	for _, o := range found {
		each(o)
	}
	return nil
}

func (r sliceResource) Delete(ctx context.Context, o *stintv1.ResultSlice, _ client.DeleteOptions) error {
	s := r.process.server
	_, err := ask[*metav1.PartialObjectMetadata](ctx, r.process, &request{verb: "delete slice", object: o.Name, do: func() (client.Object, error) {
		if now := s.slices.objects[o.Name]; now != nil && now.UID == o.UID {
			s.slices.drop(s.next(now.DeepCopy()), now)
		}
		return &metav1.PartialObjectMetadata{}, nil
	}})
	return err
}

func (s *server) createSlice(o *stintv1.ResultSlice) *stintv1.ResultSlice {
	s.made++
	o = o.DeepCopy()
	o.Name, o.UID, o.CreationTimestamp = o.GenerateName+strconv.Itoa(s.made), types.UID(fmt.Sprintf("slice-%d", s.made)), now()
	s.slices.put(s.next(o), o)
	return o
}

// keep takes in one of perhaps several results of a pod. What tells of its end holds, and there is but one end.
func (l *ledger) keep(kept map[types.UID]corev1.PodPhase, r *stintv1.PodResult) {
	over := func(phase corev1.PodPhase) bool { return phase == corev1.PodSucceeded || phase == corev1.PodFailed }
	was := kept[r.UID]
	if over(was) && over(r.Phase) && was != r.Phase {
		l.fail("pod %s is kept as %s and as %s", r.Pod, was, r.Phase)
	}
	if !over(was) {
		kept[r.UID] = r.Phase
	}
}

// checkResults expects one result for each pod that the Job counted and did not take for ended before it had.
func (l *ledger) checkResults(j *batchv1.Job) {
	if j.DeletionTimestamp != nil {
		return // what is not written yet goes with it
	}
	kept := map[types.UID]corev1.PodPhase{}
	l.server.slices.each(func(s *stintv1.ResultSlice) {
		for _, r := range s.Results {
			if metav1.IsControlledBy(s, j) {
				l.keep(kept, &r)
			}
		}
	})
	a := l.jobs[j.UID]
	for uid := range a.counted {
		f := l.pods[uid]
		if f.releasedBy == nil || f.discarded || !l.belongs(f.last, j) {
			continue // somebody took it away before the controller could see what came of it, or it was not wanted any more
		}
		phase, known := kept[uid]
		if !known {
			l.fail("nothing is kept of pod %s, which was counted", f.last.Name)
		}
		if a.succeeded[uid] && phase != corev1.PodSucceeded {
			l.fail("pod %s has succeeded and is kept as %s", f.last.Name, phase)
		}
	}
	for uid := range kept {
		if l.pods[uid] == nil {
			l.fail("there is a result of pod %s, which never was", uid)
		}
	}
}
