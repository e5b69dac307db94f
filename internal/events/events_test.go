package events_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/stint-dev/stint/internal/events"
)

// ledger is a sink that records events.
type ledger struct {
	mu       sync.Mutex
	created  []*corev1.Event
	patched  int
	vanished bool
	// down is how many writes get no response, refusal the error of the others.
	down    int
	refusal error
	asked   int
	// slow is how long a write takes, in the time of synctest.
	slow time.Duration
}

// answer returns the error of the next write.
func (l *ledger) answer() error {
	l.asked++
	if l.down > 0 {
		l.down--
		return errors.New("connection refused")
	}
	return l.refusal
}

func (l *ledger) Create(e *corev1.Event) (*corev1.Event, error) {
	time.Sleep(l.slow)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.answer(); err != nil {
		return nil, err
	}
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
	synctest.Test(t, func(t *testing.T) {
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
	})
}

func TestCloseTakesAsLongAsItIsGiven(t *testing.T) {
	for given, written := range map[time.Duration]int{2 * time.Second: 2, time.Minute: 10} {
		t.Run(given.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sink := &ledger{slow: 1100 * time.Millisecond}
				w := events.NewWriter(sink, scheme.Scheme)
				w.DrainTime = given
				for i := range 10 {
					w.Recorder("job-controller").Event(pod("a"), corev1.EventTypeNormal, fmt.Sprint("Reason", i), "done")
				}
				w.Close()
				if len(sink.created) != written {
					t.Errorf("%d events were written, want %d", len(sink.created), written)
				}
			})
		})
	}
}

func TestRepeatedEventIsCountedUp(t *testing.T) {
	for what, vanished := range map[string]bool{"it is there": false, "it has gone meanwhile": true} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
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
		})
	}
}

func TestEventsWaitForAServerThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &ledger{down: 11}
		w := events.NewWriter(sink, scheme.Scheme)
		w.Recorder("job-controller").Event(pod("a"), corev1.EventTypeNormal, "Completed", "done")
		time.Sleep(110 * time.Second)
		synctest.Wait()
		if len(sink.created) != 1 {
			t.Errorf("%d events after %d tries", len(sink.created), sink.asked)
		}
		sink.down = 12
		w.Recorder("job-controller").Event(pod("b"), corev1.EventTypeNormal, "Completed", "done")
		time.Sleep(time.Hour)
		synctest.Wait()
		if sink.down != 0 || len(sink.created) != 1 {
			t.Errorf("the server was asked %d times for an event too old", sink.asked)
		}
		w.Close()
	})
}

func TestARefusedEventIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &ledger{refusal: apierrors.NewForbidden(corev1.Resource("events"), "e", errors.New("no"))}
		w := events.NewWriter(sink, scheme.Scheme)
		w.Recorder("job-controller").Event(pod("a"), corev1.EventTypeNormal, "Completed", "done")
		w.Close()
		if sink.asked != 1 {
			t.Errorf("asked %d times", sink.asked)
		}
	})
}

func TestCloseDoesNotWaitForAServerThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &ledger{down: 1 << 30}
		w := events.NewWriter(sink, scheme.Scheme)
		for i := range 50 {
			w.Recorder("job-controller").Event(pod(fmt.Sprint(i)), corev1.EventTypeNormal, "Completed", "done")
		}
		synctest.Wait()
		start := time.Now()
		w.Close()
		if took := time.Since(start); took > 2*time.Second || sink.asked < 50 {
			t.Errorf("it took %s, asked %d times", took, sink.asked)
		}
	})
}

func TestAFloodOfEventsIsCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &ledger{}
		w := events.NewWriter(sink, scheme.Scheme)
		r := w.Recorder("job-controller")
		for i := range 100 {
			r.Eventf(pod("a"), corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: a-%d", i)
		}
		r.Event(pod("b"), corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: b")
		synctest.Wait()
		// The tenth of a kind stands for all that follow, and is counted up.
		if made, counted := len(sink.created), sink.patched; made != 11 || made+counted != 26 {
			t.Errorf("%d events were made and %d counted up, want 10 and 15 for a, and one for b", made, counted)
		}
		time.Sleep(5 * time.Minute)
		r.Event(pod("a"), corev1.EventTypeNormal, "Completed", "done")
		w.Close()
		if made, counted := len(sink.created), sink.patched; made+counted != 27 {
			t.Errorf("five minutes later %d writes, want one more", made+counted)
		}
	})
}

func TestEventsOfARunEveryMinuteAreNotDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &ledger{}
		w := events.NewWriter(sink, scheme.Scheme)
		r := w.Recorder("cronjob-controller")
		const minutes = 60
		for i := range minutes {
			r.Eventf(pod("a"), corev1.EventTypeNormal, "SuccessfulCreate", "Created job a-%d", i)
			r.Eventf(pod("a"), corev1.EventTypeNormal, "SawCompletedJob", "Saw completed job: a-%d", i)
			r.Eventf(pod("a"), corev1.EventTypeNormal, "SuccessfulDelete", "Deleted job a-%d", i)
			time.Sleep(time.Minute)
		}
		w.Close()
		if written := len(sink.created) + sink.patched; written != 3*minutes {
			t.Errorf("%d events were written, want %d", written, 3*minutes)
		}
	})
}
