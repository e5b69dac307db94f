package events_test

import (
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/stint-dev/stint/internal/events"
)

// ledger is a sink that keeps what it is given.
type ledger struct {
	mu       sync.Mutex
	created  []*corev1.Event
	patched  int
	vanished bool
}

func (l *ledger) Create(e *corev1.Event) (*corev1.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.created = append(l.created, e)
	stored := e.DeepCopy()
	stored.ResourceVersion = fmt.Sprint(len(l.created))
	return stored, nil
}

func (l *ledger) Update(e *corev1.Event) (*corev1.Event, error) { return e, nil }

func (l *ledger) Patch(e *corev1.Event, _ []byte) (*corev1.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.vanished {
		return nil, apierrors.NewNotFound(corev1.Resource("events"), e.Name)
	}
	l.patched++
	return e, nil
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name)},
	}
}

func TestCloseWritesWhatIsQueued(t *testing.T) {
	sink := &ledger{}
	w := events.NewWriter(sink, scheme.Scheme)
	r := w.Recorder("job-controller")
	for i := range 500 {
		r.Eventf(pod(fmt.Sprint(i)), corev1.EventTypeNormal, "Completed", "pod %d is done", i)
	}
	w.Close()
	r.Event(pod("late"), corev1.EventTypeNormal, "Completed", "after the end")
	if len(sink.created) != 500 {
		t.Fatalf("%d events were written, want 500", len(sink.created))
	}
	e := sink.created[0]
	if e.Source.Component != "job-controller" || e.ReportingController != "job-controller" || e.Namespace != "default" {
		t.Errorf("event does not say where it comes from: %+v", e)
	}
}

func TestRepeatedEventIsCountedUp(t *testing.T) {
	for what, vanished := range map[string]bool{"it is there": false, "it has gone meanwhile": true} {
		t.Run(what, func(t *testing.T) {
			sink := &ledger{vanished: vanished}
			w := events.NewWriter(sink, scheme.Scheme)
			for range 3 {
				w.Recorder("kubelet").Event(pod("a"), corev1.EventTypeWarning, "BackOff", "restarting")
			}
			w.Close()
			if vanished && len(sink.created) != 3 || !vanished && (len(sink.created) != 1 || sink.patched != 2) {
				t.Errorf("made %d, counted up %d times", len(sink.created), sink.patched)
			}
		})
	}
}
