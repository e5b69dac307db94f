package registry

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/apiserver/registry/cronjob"
	"github.com/stint-dev/stint/internal/apiserver/registry/job"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

// All field names are listed, every row has a cell for each column, and every kind has constructors.
func TestKindsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range All(pod.Options{}) {
		t.Run(r.Kind, func(t *testing.T) {
			if seen[r.Plural] || r.Plural == "" || r.Singular == "" || r.NewList() == nil {
				t.Errorf("plural %q, singular %q", r.Plural, r.Singular)
			}
			seen[r.Plural] = true
			obj := r.New()
			if cells := r.Row(obj, metav1.Now().Time); len(cells) != len(r.Columns) {
				t.Errorf("%d cells for %d columns", len(cells), len(r.Columns))
			}
			for name, value := range r.Fields(obj) {
				if value == "" {
					t.Errorf("the field %s is kept although it is empty", name)
				}
			}
		})
	}
}

func TestJobRowHasACellForEachColumn(t *testing.T) {
	for _, r := range []kinds.Resource{job.Resource(pod.Options{}), cronjob.Resource(pod.Options{})} {
		if got, want := len(r.Row(r.New(), time.Unix(0, 0))), len(r.Columns); got != want {
			t.Errorf("%s: %d cells for %d columns", r.Kind, got, want)
		}
	}
}
