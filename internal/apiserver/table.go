package apiserver

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/visible"
)

// tables converts objects to the tables that `kubectl get` prints.
type tables struct{ resource kinds.Resource }

func (t tables) ConvertToTable(_ context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	now := time.Now()
	result := &metav1.Table{}
	if m, err := meta.ListAccessor(obj); err == nil {
		result.ResourceVersion = m.GetResourceVersion()
		result.Continue = m.GetContinue()
		result.RemainingItemCount = m.GetRemainingItemCount()
	} else if m, err := meta.CommonAccessor(obj); err == nil {
		result.ResourceVersion = m.GetResourceVersion()
	}
	if o, ok := options.(*metav1.TableOptions); !ok || !o.NoHeaders {
		result.ColumnDefinitions = t.resource.Columns
	}
	rows, err := table.MetaToTableRow(obj, func(obj runtime.Object, _ metav1.Object, _, _ string) ([]any, error) {
		return shown(t.resource.Row(obj, now)), nil
	})
	result.Rows = rows
	return result, err
}

// shown escapes control characters of cells, most of which kubectl would pass on to its terminal. \r\n becomes a line break, at which
// kubectl ends a cell. Clients that want the exact text of an object do not ask for a table.
func shown(cells []any) []any {
	for i, cell := range cells {
		if text, ok := cell.(string); ok {
			cells[i] = visible.Text(strings.ReplaceAll(text, "\r\n", "\n"))
		}
	}
	return cells
}
