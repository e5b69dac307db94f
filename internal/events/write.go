package events

import (
	"errors"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
)

const (
	// tries and pause bound how long an event is kept for a server that does not answer.
	tries = 12
	pause = 10 * time.Second
)

func (w *Writer) write(correlator *record.EventCorrelator, event *corev1.Event) error {
	result, err := correlator.EventCorrelate(event)
	if err != nil || result.Skip {
		return err
	}
	for try := 1; ; try++ {
		stored, err := w.store(result)
		if err == nil {
			correlator.UpdateState(stored)
			return nil
		}
		if !unanswered(err) || try == tries || !w.rest(try) {
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
func (w *Writer) store(result *record.EventCorrelateResult) (*corev1.Event, error) {
	event := result.Event
	if event.Count > 1 {
		stored, err := w.sink.Patch(event, result.Patch)
		if !apierrors.IsNotFound(err) {
			return stored, err
		}
		// It has gone by itself meanwhile.
		event = event.DeepCopy()
		event.ResourceVersion = ""
	}
	return w.sink.Create(event)
}
