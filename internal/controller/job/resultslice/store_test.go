package resultslice

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/test/wrappers"
)

func TestMain(m *testing.M) { apiservertest.Main(m) }

// newStore returns a store that keeps at most maxResults of each Job on the server.
func newStore(server *apiservertest.Server, maxResults int) *Store {
	return New(server.Client(), Options{Max: maxResults, Clock: clock.RealClock{},
		Lost: prometheus.NewCounter(prometheus.CounterOpts{Name: "lost"})})
}

// recordEach records n pods that have succeeded, one at a time.
func recordEach(t *testing.T, s *Store, job *batchv1.Job, n int) {
	t.Helper()
	for i := range n {
		name := fmt.Sprintf("%s-%d", job.Name, i)
		p := wrappers.MakePodOf(job, name).Namespace(job.Namespace).UID(types.UID(name)).Exited(0, metav1.NewTime(time.Unix(int64(i)+1, 0))).Obj()
		if err := s.Record(t.Context(), job, []*corev1.Pod{p}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAStoreDeletesTheOldestResultsThoughAnEarlierControllerStoredThem(t *testing.T) {
	const stored, kept = 12, 8
	server := apiservertest.Shared(t)
	job := wrappers.MakeJob("j").Namespace(server.Namespace).UID("j").Obj()
	recordEach(t, newStore(server, kept), job, stored) // It stops before it deletes any.
	wrappers.FromJob(job).Succeeded(stored)
	next := newStore(server, kept)
	if err := next.Record(t.Context(), job, nil); err != nil {
		t.Fatal(err)
	}
	if err := next.Prune(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	var pods []string
	_, err := server.Client().ResultSlices().List(t.Context(), server.Namespace, labels.Everything(), func(s *stintv1.ResultSlice) {
		for i := range s.Results {
			pods = append(pods, s.Results[i].Pod)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(pods) != kept {
		t.Errorf("the results of %d pods are stored, want the newest %d: %v", len(pods), kept, pods)
	}
	for i := range stored {
		if name := fmt.Sprintf("j-%d", i); slices.Contains(pods, name) != (i >= stored-kept) {
			t.Errorf("of %d results, result %d is stored: %v", stored, i, pods)
		}
	}
}

// A Job may have millions of pods, one after the other.
func TestAStoreForgetsThePodsThatLostTheirFinalizers(t *testing.T) {
	server := apiservertest.Shared(t)
	job := wrappers.MakeJob("j").Namespace(server.Namespace).UID("j").Obj()
	s := newStore(server, 100)
	recordEach(t, s, job, 3)
	if n := len(s.known(job.UID).written); n != 3 {
		t.Fatalf("%d pods are known to be stored, want 3", n)
	}
	if err := s.Prune(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if n := len(s.known(job.UID).written); n > 0 {
		t.Errorf("%d pods are remembered", n)
	}
}
