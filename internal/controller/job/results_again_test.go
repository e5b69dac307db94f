package job_test

import (
	"context"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/test/await"
)

// holding is a client of a server that refuses to remove finalizers while busy is set.
type holding struct {
	connection
	busy *atomic.Bool
	// tries counts the tries to remove a finalizer.
	tries *atomic.Int32
}

func (h holding) Pods() client.Resource[*corev1.Pod] { return heldPods{h.connection.Pods(), h} }

type heldPods struct {
	client.Resource[*corev1.Pod]
	h holding
}

func (p heldPods) Modify(ctx context.Context, observed *corev1.Pod, change func(*corev1.Pod)) (*corev1.Pod, error) {
	p.h.tries.Add(1)
	if p.h.busy.Load() {
		return nil, apierrors.NewServerTimeout(schema.GroupResource{Resource: "pods"}, "patch", 0)
	}
	return p.Resource.Modify(ctx, observed, change)
}

// Results are stored before the finalizers of pods are removed. If the removal fails, neither the next try nor
// another controller may store them again, or count again the results that were dropped to make room for them.
func TestResultsOfPodsThatAreHeldAreKeptOnce(t *testing.T) {
	const n = 20
	for name, test := range map[string]struct{ max, kept, dropped int }{
		"all are kept":   {max: 100, kept: n},
		"some make room": {max: 4, kept: 4, dropped: n - 4},
	} {
		t.Run(name, func(t *testing.T) {
			o := quick()
			o.MaxResults = ptr.To(test.max)
			e := start(t, o, always(succeed))
			e.stopController()
			h := holding{e.client, &atomic.Bool{}, &atomic.Int32{}}
			h.busy.Store(true)
			e.client = h
			e.startController()
			e.create(newJob("many", pods(n, n)))
			for range 2 {
				h.tries.Store(0)
				await.Until(e.t, "the pods to be held", func() bool { return h.tries.Load() > 3*n }, e.describePods)
				e.restart()
			}
			h.busy.Store(false)
			if j := e.untilFinished("many"); j.Status.Succeeded != n {
				t.Errorf("%d pods have succeeded, want %d", j.Status.Succeeded, n)
			}
			stored := 0
			for _, s := range e.resultSlices() {
				stored += len(s.Results)
			}
			got := e.results("many")
			if len(got.Items) != test.kept || stored != test.kept || got.Dropped != int64(test.dropped) {
				t.Errorf("%d results, %d stored, %d dropped; want %d kept and %d dropped", len(got.Items), stored, got.Dropped, test.kept, test.dropped)
			}
		})
	}
}
