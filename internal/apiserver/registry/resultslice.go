package registry

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

// ResultSlice describes stint.dev/v1 ResultSlices. The CustomResourceDefinition in deploy/crds has the same rules.
func ResultSlice() kinds.Resource {
	return kinds.Resource{
		Version:  stintv1.SchemeGroupVersion,
		Kind:     "ResultSlice",
		Plural:   "resultslices",
		Singular: "resultslice",
		Uncached: true,
		New:      func() runtime.Object { return &stintv1.ResultSlice{} },
		NewList:  func() runtime.Object { return &stintv1.ResultSliceList{} },
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			return validateResultSlice(obj.(*stintv1.ResultSlice))
		},
		ValidateUpdate: func(_ context.Context, obj, _ runtime.Object) field.ErrorList {
			return validateResultSlice(obj.(*stintv1.ResultSlice))
		},
		Columns: []metav1.TableColumnDefinition{
			kinds.NameColumn,
			{Name: "Job", Type: "string", Description: "The Job whose pods these are."},
			{Name: "Entries", Type: "integer", Description: "How many pods have their result here."},
			kinds.AgeColumn,
		},
		Row: func(obj runtime.Object, now time.Time) []any {
			s := obj.(*stintv1.ResultSlice)
			return []any{s.Name, s.Labels[batchv1.JobNameLabel], int64(len(s.Results)), kinds.Age(s.CreationTimestamp, now)}
		},
	}
}
