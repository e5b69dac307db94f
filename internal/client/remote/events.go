package remote

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// eventRetryTimeout is the timeout for writing an event, so that events do not delay the end of the program for long.
const eventRetryTimeout = 5 * time.Second

// eventSink writes the events of an event broadcaster. It tries each write once: the broadcaster does the retries.
type eventSink struct{ events *resource[*corev1.Event] }

func newEventSink(c connection) (eventSink, error) {
	r, err := newResource[*corev1.Event](nil, events, c, c)
	return eventSink{r}, err
}

func (s eventSink) Create(event *corev1.Event) (*corev1.Event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), eventRetryTimeout)
	defer cancel()
	return s.events.do(ctx, s.events.namespaced(s.events.writes.Post(), event.Namespace).Body(event))
}

func (s eventSink) Update(event *corev1.Event) (*corev1.Event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), eventRetryTimeout)
	defer cancel()
	return s.events.do(ctx, s.events.namespaced(s.events.writes.Put(), event.Namespace).Name(event.Name).Body(event))
}

// Patch writes the higher count of a repeated event.
func (s eventSink) Patch(event *corev1.Event, data []byte) (*corev1.Event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), eventRetryTimeout)
	defer cancel()
	request := s.events.writes.Patch(types.StrategicMergePatchType)
	return s.events.do(ctx, s.events.namespaced(request, event.Namespace).Name(event.Name).Body(data))
}
