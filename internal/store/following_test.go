package store

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// silentStore has watches that begin and then say nothing.
type silentStore struct {
	storage.Interface
	watches  []*watch.FakeWatcher
	requests int
}

func (s *silentStore) Watch(context.Context, string, storage.ListOptions) (watch.Interface, error) {
	s.watches = append(s.watches, watch.NewFakeWithChanSize(1, false))
	return s.watches[len(s.watches)-1], nil
}

func (s *silentStore) RequestWatchProgress(context.Context) error {
	s.requests++
	return nil
}

func bookmark(version string) watch.Event {
	return watch.Event{Type: watch.Bookmark, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}}
}

func TestAWatchThatDoesNotMoveIsSeenAndOpenedAgain(t *testing.T) {
	source := &silentStore{}
	f := newFeed(source, "pods")
	all := &feeds{}
	all.add(f)
	follow := func() watch.Interface {
		w, err := f.Watch(t.Context(), "/pods/", storage.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := follow()
	source.watches[0].Action(watch.Bookmark, bookmark("5").Object)
	<-w.ResultChan()

	for range 3 * stalledSteps {
		all.step(t.Context(), 5)
	}
	if err := all.stalled(); err != nil || source.requests > 0 {
		t.Fatalf("%v and %d requests, although there is nothing new", err, source.requests)
	}
	for range stalledSteps {
		if err := all.stalled(); err != nil || source.watches[0].IsStopped() {
			t.Fatalf("too early: %v", err)
		}
		all.step(t.Context(), 9)
	}
	if err := all.stalled(); err == nil || !strings.Contains(err.Error(), "pods") {
		t.Errorf("a watch that does not move: %v", err)
	}
	if !source.watches[0].IsStopped() {
		t.Error("it is not opened again")
	}
	if source.requests != stalledSteps {
		t.Errorf("it was asked %d times, want %d", source.requests, stalledSteps)
	}
	if e := <-w.ResultChan(); e.Type != watch.Error {
		t.Errorf("the cache got %s, so it does not list again", e.Type)
	}

	w = follow()
	all.step(t.Context(), 9)
	if all.stalled() == nil {
		t.Error("ready before an event has come")
	}
	source.watches[1].Action(watch.Bookmark, bookmark("9").Object)
	<-w.ResultChan()
	all.step(t.Context(), 9)
	if err := all.stalled(); err != nil {
		t.Errorf("it moves again, and %v", err)
	}
	all.remove(f)
	for range 2 * stalledSteps {
		all.step(t.Context(), 20)
	}
	if err := all.stalled(); err != nil {
		t.Errorf("it is closed, and %v", err)
	}
}

// A load can leave a watch far behind for long. That is no reason to begin again.
func TestAWatchThatIsBehindButMovesIsLeftAlone(t *testing.T) {
	var f following
	for i := range uint64(10 * stalledSteps) {
		if _, reopen := f.step(1+i/(stalledSteps-1), 1000); reopen || f.stalled() {
			t.Fatalf("given up at step %d", i)
		}
	}
}
