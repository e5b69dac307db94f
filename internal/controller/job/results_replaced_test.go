package job_test

import (
	"context"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
)

// No result is added to a slice that was deleted, or to another one of its name.
func TestResultsGoOnWhereTheirSliceIsGone(t *testing.T) {
	for name, replace := range map[string]bool{"it is deleted": false, "another has its name": true} {
		t.Run(name, func(t *testing.T) {
			gate := make(chan struct{})
			open := sync.OnceFunc(func() { close(gate) })
			var first sync.Once
			e := start(t, quick(), func(*corev1.Pod) fate {
				isFirst := false
				first.Do(func() { isFirst = true })
				if !isFirst {
					<-gate
				}
				return succeed
			})
			t.Cleanup(open)
			e.create(newJob("j", pods(2, 1)))
			e.until("j", "half done", func(j *batchv1.Job) bool { return j.Status.Succeeded == 1 })
			slice := e.resultSlices()[0]
			if err := e.client.ResultSlices().Delete(context.Background(), &slice, client.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			if replace {
				another := &stintv1.ResultSlice{ObjectMeta: metav1.ObjectMeta{Namespace: slice.Namespace, Name: slice.Name}, Results: slice.Results}
				if _, err := e.client.ResultSlices().Create(context.Background(), another); err != nil {
					t.Fatal(err)
				}
			}
			open()
			if j := e.untilFinished("j"); j.Status.Succeeded != 2 {
				t.Errorf("%d pods have succeeded, want 2", j.Status.Succeeded)
			}
			kept := 0
			for _, s := range e.resultSlices() {
				switch {
				case s.Name != slice.Name:
					kept += len(s.Results)
				case len(s.Results) != len(slice.Results):
					t.Errorf("%d results in what is no slice of the Job", len(s.Results))
				}
			}
			if kept != 1 {
				t.Errorf("%d results are kept of what ended later, want 1", kept)
			}
		})
	}
}
