package remote

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// eventRetryTimeout bounds a write of an event, so that a program that stops does not wait for it much longer.
const eventRetryTimeout = 5 * time.Second

// eventSink is where an event broadcaster writes. It tries once: the broadcaster decides whether to go on.
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

// Patch counts an event up that was seen before.
func (s eventSink) Patch(event *corev1.Event, data []byte) (*corev1.Event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), eventRetryTimeout)
	defer cancel()
	request := s.events.writes.Patch(types.StrategicMergePatchType)
	return s.events.do(ctx, s.events.namespaced(request, event.Namespace).Name(event.Name).Body(data))
}
