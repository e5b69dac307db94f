package inprocess_test

import (
	"fmt"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage/cacher/metrics"
	"k8s.io/component-base/metrics/testutil"

	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/internal/apiserver/inprocess"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

// start starts a server with its data in dir. It returns a client for pods, and a function that stops the server.
func start(t *testing.T, dir string) (client.Resource[*corev1.Pod], func()) {
	t.Helper()
	s := apiservertest.Start(t, apiservertest.In(dir), apiservertest.Listening(t))
	return s.Client().Pods(), s.Stop
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// watchFromNow lists and then watches, as a reflector would.
func watchFromNow(t *testing.T, pods client.Resource[*corev1.Pod]) watch.Interface {
	t.Helper()
	lw := inprocess.ListWatchOf(pods)
	list := must(lw.ListWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "0"}))(t)
	version := must(meta.ListAccessor(list))(t).GetResourceVersion()
	return must(lw.WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true}))(t)
}

// writeUntilClosed creates pods, numbered from from, until the server has closed a watch that is not read. It returns the
// next number.
func writeUntilClosed(t *testing.T, pods client.Resource[*corev1.Pod], from int) int {
	t.Helper()
	before, ctx := terminated(t), await.Context(t)
	for i := from; ; i++ {
		if terminated(t) > before {
			return i
		}
		must(pods.Create(ctx, pod(i)))(t)
	}
}

// terminated returns how many watches of pods the server has closed because they were not read.
func terminated(t *testing.T) float64 {
	t.Helper()
	return must(testutil.GetCounterMetricValue(metrics.TerminatedWatchersCounter.WithLabelValues("", "pods")))(t)
}

func pod(i int) *corev1.Pod {
	return wrappers.MakePod(fmt.Sprintf("p%d", i)).Namespace("default").Command("true").Obj()
}

// next returns the next watch event that is no bookmark, or false if the watch has ended.
func next(t *testing.T, w watch.Interface) (watch.Event, bool) {
	t.Helper()
	for {
		// A closed channel returns an event without a type.
		e := await.Value(t, "an event, or the end of the watch", w.ResultChan())
		if e.Type != watch.Bookmark {
			return e, e.Type != ""
		}
	}
}

func TestAWatchThatTheServerClosesGoesOnWithoutLossOrRepetition(t *testing.T) {
	pods, _ := start(t, t.TempDir())
	w := watchFromNow(t, pods)
	defer w.Stop()
	seen := 0
	for range 3 {
		for made := writeUntilClosed(t, pods, seen); seen < made; seen++ {
			e, ok := next(t, w)
			if !ok {
				t.Fatalf("the watch ended after %d of %d pods", seen, made)
			}
			want := fmt.Sprintf("p%d", seen)
			if got, isPod := e.Object.(*corev1.Pod); !isPod || e.Type != watch.Added || got.Name != want {
				t.Fatalf("event %d is %s of %T %v, want %s added", seen, e.Type, e.Object, got.GetName(), want)
			}
		}
	}
}

func TestAWatchStopsWhateverItDoes(t *testing.T) {
	pods, _ := start(t, t.TempDir())
	made := 0
	for name, before := range map[string]func(t *testing.T){
		"while nothing happens": func(*testing.T) {},
		"while an event waits to be read": func(t *testing.T) {
			must(pods.Create(t.Context(), pod(made)))(t)
			made++
		},
		"after the server closed its part": func(t *testing.T) { made = writeUntilClosed(t, pods, made) },
	} {
		t.Run(name, func(t *testing.T) {
			w := watchFromNow(t, pods)
			before(t)
			w.Stop()
			w.Stop()
			for ok := true; ok; {
				_, ok = next(t, w)
			}
		})
	}
}

func TestAStoppedWatchThatIsNotReadLeavesNothing(t *testing.T) {
	others := goleak.IgnoreCurrent()
	pods, stop := start(t, t.TempDir())
	idle, full := watchFromNow(t, pods), watchFromNow(t, pods)
	idle.Stop()
	writeUntilClosed(t, pods, 0)
	full.Stop()
	stop()
	var err error
	// Wait longer than goleak does: on a busy machine goroutines need more time to end.
	await.Until(t, "all goroutines end", func() bool {
		err = goleak.Find(others)
		return err == nil
	}, func() string { return err.Error() })
}

func TestAWatchFromAForgottenVersionSaysSoAndEnds(t *testing.T) {
	dir := t.TempDir()
	pods, stop := start(t, dir)
	must(pods.Create(t.Context(), pod(0)))(t)
	stop()
	// A new server has no watch events from before its start.
	pods, _ = start(t, dir)
	lw := inprocess.ListWatchOf(pods)
	w := must(lw.WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "1"}))(t)
	defer w.Stop()
	e, _ := next(t, w)
	if err := apierrors.FromObject(e.Object); e.Type != watch.Error || !apierrors.IsResourceExpired(err) {
		t.Errorf("the first event is %s %v, want ERROR, expired", e.Type, err)
	}
	if e, ok := next(t, w); ok {
		t.Errorf("%s came after the error", e.Type)
	}
}

func TestAWatchEndsWithItsServer(t *testing.T) {
	pods, stop := start(t, t.TempDir())
	w := watchFromNow(t, pods)
	defer w.Stop()
	stop()
	if e, ok := next(t, w); ok {
		t.Errorf("%s came from a server that has stopped", e.Type)
	}
}
