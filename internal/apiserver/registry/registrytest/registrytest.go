// Package registrytest has what the tests of several kinds need: objects as a user writes them, and how errors and
// tables are compared.
package registrytest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

// faults shortens errors to what the API promises of them: the field and the kind of the error.
func faults(errs field.ErrorList) []string {
	var all []string
	for _, err := range errs {
		all = append(all, fmt.Sprintf("%s %s", err.Field, strings.TrimPrefix(string(err.Type), "FieldValue")))
	}
	slices.Sort(all)
	return all
}

// WantErrors wants the errors "FIELD TYPE", each of which tells its remedy.
func WantErrors(t *testing.T, errs field.ErrorList, want ...string) {
	t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, faults(errs)); diff != "" {
		t.Errorf("errors (-want +got):\n%s\n%v", diff, errs.ToAggregate())
	}
	for _, err := range errs {
		if err.Detail == "" && err.Type != field.ErrorTypeDuplicate {
			t.Errorf("%s: no remedy told", err.Field)
		}
	}
}

// Posted is obj as the server has it before validation.
func Posted[T runtime.Object](r kinds.Resource, obj T) T {
	if r.Default != nil {
		r.Default(obj)
	}
	if r.PrepareForCreate != nil {
		r.PrepareForCreate(context.Background(), obj)
	}
	return obj
}

// ColumnNames are the names of the columns of a priority: 0, or 1 for those that only `-o wide` shows.
func ColumnNames(columns []metav1.TableColumnDefinition, priority int32) []string {
	var names []string
	for _, c := range columns {
		if c.Priority == priority {
			names = append(names, c.Name)
		}
	}
	return names
}

// Now is when tables are made.
var Now = time.Unix(100000, 0)

// Ago is so long before Now.
func Ago(d time.Duration) metav1.Time { return metav1.NewTime(Now.Add(-d)) }

// Times repeats a value.
func Times[T any](n int, value T) []T {
	var all []T
	for range n {
		all = append(all, value)
	}
	return all
}

// UpTo counts from 1.
func UpTo(n int32) []int32 {
	var codes []int32
	for code := int32(1); code <= n; code++ {
		codes = append(codes, code)
	}
	return codes
}
