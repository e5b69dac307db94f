package store

import (
	"context"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// busyStore has a version that other kinds change, and counts the requests for progress.
type busyStore struct {
	storage.Interface
	version  uint64
	requests int
}

func (s *busyStore) GetCurrentResourceVersion(context.Context) (uint64, error) { return s.version, nil }

func (s *busyStore) RequestWatchProgress(context.Context) error {
	s.requests++
	return nil
}

// A list of everything that is stored by now would otherwise wait up to 100 ms.
func TestAFeedRequestsProgressAtOnceWhereItIsBehind(t *testing.T) {
	s := &busyStore{}
	f := newFeed(s, "pods")
	for _, step := range []struct {
		what          string
		stored, event uint64
		requests      int
	}{
		{"other kinds have changed", 5, 0, 1},
		{"nothing has changed since", 5, 0, 1},
		{"others again", 7, 0, 2},
		{"the last change is of this kind", 8, 8, 2},
		{"the notification has come", 9, 9, 2},
		{"others once more", 10, 0, 3},
	} {
		if step.event > 0 {
			f.publish(watch.Event{Type: watch.Bookmark, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				ResourceVersion: strconv.FormatUint(step.event, 10)}}})
		}
		s.version = step.stored
		if got, err := f.GetCurrentResourceVersion(t.Context()); got != step.stored || err != nil {
			t.Errorf("%s: version %d, error %v", step.what, got, err)
		}
		if s.requests != step.requests {
			t.Errorf("%s: %d requests, want %d", step.what, s.requests, step.requests)
		}
	}
}
