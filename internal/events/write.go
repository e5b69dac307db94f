package events

import (
	"errors"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

const (
	// tries and pause limit the retries if the server does not answer.
	tries = 12
	pause = 10 * time.Second
)

func (w *Writer) write(c *correlator, event *corev1.Event) error {
	event = c.correlate(event)
	if event == nil {
		return nil
	}
	for try := 1; ; try++ {
		err := w.store(event)
		if err == nil || !unanswered(err) || try == tries || !w.rest(try) {
			return err
		}
	}
}

// unanswered reports whether the server gave no response. An event that it refused it would refuse again.
func unanswered(err error) bool {
	var status *apierrors.StatusError
	var unmade *rest.RequestConstructionError
	return !errors.As(err, &status) && !errors.As(err, &unmade)
}

// rest waits, and reports whether there is time for another try.
func (w *Writer) rest(try int) bool {
	wait := pause
	if try == 1 {
		// A random delay, so that a restarted server does not get the events of all clients at once.
		wait = time.Duration(rand.Int64N(int64(pause)))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.ending:
		return false
	}
}

// store updates the count of an event that is stored already, or creates the event.
func (w *Writer) store(event *corev1.Event) error {
	if event.Count > 1 {
		patch, err := countPatch(event)
		if err != nil {
			return err
		}
		if _, err = w.sink.Patch(event, patch); !apierrors.IsNotFound(err) {
			return err
		}
		// The event has expired meanwhile.
	}
	_, err := w.sink.Create(event)
	return err
}
