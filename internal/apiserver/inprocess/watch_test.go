package inprocess_test

import (
	"fmt"
	"slices"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

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

// create creates pods with these numbers.
func create(t *testing.T, pods client.Resource[*corev1.Pod], from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		must(pods.Create(await.Context(t), pod(i)))(t)
	}
}

// unread is more events than any buffer between the store and a watch has room for.
const unread = 300

func TestAWatchThatIsNotReadLosesAndRepeatsNothing(t *testing.T) {
	pods, _ := start(t, t.TempDir())
	w := watchFromNow(t, pods)
	defer w.Stop()
	create(t, pods, 0, unread)
	for i := range unread {
		e, ok := next(t, w)
		if !ok {
			t.Fatalf("the watch ended after %d of %d pods", i, unread)
		}
		want := fmt.Sprintf("p%d", i)
		if got, isPod := e.Object.(*corev1.Pod); !isPod || e.Type != watch.Added || got.Name != want {
			t.Fatalf("event %d is %s of %T %v, want %s added", i, e.Type, e.Object, got.GetName(), want)
		}
	}
}

func TestAListAndItsWatchHaveEveryPodOnce(t *testing.T) {
	pods, _ := start(t, t.TempDir())
	lw := inprocess.ListWatchOf(pods)
	create(t, pods, 0, 3)
	list := must(lw.ListWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "0"}))(t).(*corev1.PodList)
	create(t, pods, 3, 4)
	w := must(lw.WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion}))(t)
	defer w.Stop()
	var names []string
	for _, pod := range list.Items {
		names = append(names, pod.Name)
	}
	for !slices.Contains(names, "p3") {
		e, _ := next(t, w)
		names = append(names, e.Object.(*corev1.Pod).Name)
	}
	if want := []string{"p0", "p1", "p2", "p3"}; !slices.Equal(names, want) {
		t.Errorf("the list and then the watch have %v, want %v", names, want)
	}
}

func TestAWatchAndTheCacheShareObjects(t *testing.T) {
	pods, _ := start(t, t.TempDir())
	first, second := watchFromNow(t, pods), watchFromNow(t, pods)
	defer first.Stop()
	defer second.Stop()
	create(t, pods, 0, 1)
	a, _ := next(t, first)
	b, _ := next(t, second)
	if a.Object != b.Object {
		t.Error("each watch has a copy of its own")
	}
}

func TestAWatchStopsWhateverItDoes(t *testing.T) {
	pods, _ := start(t, t.TempDir())
	for name, before := range map[string]func(t *testing.T){
		"while nothing happens":           func(*testing.T) {},
		"while an event waits to be read": func(t *testing.T) { create(t, pods, 0, unread) },
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
	create(t, pods, 0, unread)
	full.Stop()
	stop()
	var err error
	// Wait longer than goleak does: on a busy machine goroutines need more time to end.
	await.Until(t, "all goroutines end", func() bool {
		err = goleak.Find(others)
		return err == nil
	}, func() string { return err.Error() })
}

func TestAWatchWithoutAListIsRefused(t *testing.T) {
	pods, _ := start(t, t.TempDir())
	lw := inprocess.ListWatchOf(pods)
	_, err := lw.WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
	if !apierrors.IsResourceExpired(err) {
		t.Errorf("%v, want expired, so that the reflector lists", err)
	}
}

func TestAWatchEndsWithItsServer(t *testing.T) {
	pods, stop := start(t, t.TempDir())
	w := watchFromNow(t, pods)
	defer w.Stop()
	stop()
	for ok := true; ok; {
		var e watch.Event
		if e, ok = next(t, w); ok && e.Type != watch.Error {
			t.Errorf("%s came from a server that has stopped", e.Type)
		}
	}
}
