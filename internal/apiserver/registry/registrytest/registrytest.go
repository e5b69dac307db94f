// Package registrytest has helpers for the tests of several kinds: objects as a user writes them, and comparisons of
// errors and tables.
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

// faults returns the field and the type of each error, without its message, which may change.
func faults(errs field.ErrorList) []string {
	var all []string
	for _, err := range errs {
		all = append(all, fmt.Sprintf("%s %s", err.Field, strings.TrimPrefix(string(err.Type), "FieldValue")))
	}
	slices.Sort(all)
	return all
}

// WantErrors checks that errs are the errors in want, each given as "FIELD TYPE", and that they have messages.
func WantErrors(t *testing.T, errs field.ErrorList, want ...string) {
	t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, faults(errs)); diff != "" {
		t.Errorf("errors (-want +got):\n%s\n%v", diff, errs.ToAggregate())
	}
	for _, err := range errs {
		if err.Detail == "" && err.Type != field.ErrorTypeDuplicate {
			t.Errorf("%s: no remedy", err.Field)
		}
	}
}

// Posted returns obj as the server validates it when it is created.
func Posted[T runtime.Object](r kinds.Resource, obj T) T {
	if r.Default != nil {
		r.Default(obj)
	}
	if r.PrepareForCreate != nil {
		r.PrepareForCreate(context.Background(), obj)
	}
	return obj
}

// ColumnNames returns the names of the columns with this priority. Columns of priority 1 are shown only by `-o wide`.
func ColumnNames(columns []metav1.TableColumnDefinition, priority int32) []string {
	var names []string
	for _, c := range columns {
		if c.Priority == priority {
			names = append(names, c.Name)
		}
	}
	return names
}

// Now is the time for which tables are made.
var Now = time.Unix(100000, 0)

// Ago returns the time d before Now.
func Ago(d time.Duration) metav1.Time { return metav1.NewTime(Now.Add(-d)) }

// Times returns a slice with n times value.
func Times[T any](n int, value T) []T {
	var all []T
	for range n {
		all = append(all, value)
	}
	return all
}

// UpTo returns the numbers from 1 to n.
func UpTo(n int32) []int32 {
	var codes []int32
	for code := int32(1); code <= n; code++ {
		codes = append(codes, code)
	}
	return codes
}
