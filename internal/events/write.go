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
	// tries and pause bound how long an event is kept for a server that does not answer.
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

// unanswered tells that the server was not there. An event that it refused it will refuse again.
func unanswered(err error) bool {
	var status *apierrors.StatusError
	var unmade *rest.RequestConstructionError
	return !errors.As(err, &status) && !errors.As(err, &unmade)
}

// rest tells whether there is time for another try.
func (w *Writer) rest(try int) bool {
	wait := pause
	if try == 1 {
		// A server that comes back does not get the events of all its clients at once.
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

// store counts an event up that is there already, and makes any other.
func (w *Writer) store(event *corev1.Event) error {
	if event.Count > 1 {
		patch, err := countPatch(event)
		if err != nil {
			return err
		}
		if _, err = w.sink.Patch(event, patch); !apierrors.IsNotFound(err) {
			return err
		}
		// It has gone by itself meanwhile.
	}
	_, err := w.sink.Create(event)
	return err
}
