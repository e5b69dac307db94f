package registry

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
)

// kinds shortens errors to what the API promises of them: the field and the kind of the error.
func kinds(errs field.ErrorList) []string {
	var all []string
	for _, err := range errs {
		all = append(all, fmt.Sprintf("%s %s", err.Field, strings.TrimPrefix(string(err.Type), "FieldValue")))
	}
	slices.Sort(all)
	return all
}

func wantErrors(t *testing.T, errs field.ErrorList, want ...string) {
	t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, kinds(errs)); diff != "" {
		t.Errorf("errors (-want +got):\n%s\n%v", diff, errs.ToAggregate())
	}
	for _, err := range errs {
		if err.Detail == "" && err.Type != field.ErrorTypeDuplicate {
			t.Errorf("%s: no remedy told", err.Field)
		}
	}
}

// posted is obj as the server has it before validation.
func posted[T runtime.Object](r Resource, obj T) T {
	if r.Default != nil {
		r.Default(obj)
	}
	if r.PrepareForCreate != nil {
		r.PrepareForCreate(context.Background(), obj)
	}
	return obj
}

func columnNames(columns []metav1.TableColumnDefinition, wide int32) []string {
	var names []string
	for _, c := range columns {
		if c.Priority == wide {
			names = append(names, c.Name)
		}
	}
	return names
}

var tableNow = time.Unix(100000, 0)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(tableNow.Add(-d)) }

func times[T any](n int, value T) []T {
	var all []T
	for range n {
		all = append(all, value)
	}
	return all
}

func upTo(n int32) []int32 {
	var codes []int32
	for code := int32(1); code <= n; code++ {
		codes = append(codes, code)
	}
	return codes
}
