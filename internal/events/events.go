// Package events writes what happened to objects as Kubernetes events.
//
// client-go's broadcaster writes one event after the other, and cannot be waited for. Here a few writers share the
// work, each with the events of its own objects, and Close writes what is still queued: the last event of a Job is
// often the last write of an embedded server. As in client-go, repeated events are counted, similar ones merged, and floods
// dropped: of one component about one object 25 events are written at once, then one in ten seconds.
//
//	Event ──► queue of the object's writer ──► correlator ──► sink
//	             full: dropped                  flood: dropped    no answer: again, for some two minutes
//
// The sink limits the writes per second: on a cluster it has a rate limit of its own.
package events

import (
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/record/util"
	"k8s.io/client-go/tools/reference"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

const (
	writers = 8
	// queued bounds the events that wait for one writer. Further ones are dropped, as in client-go.
	queued = 1000
	// drainTime is the DrainTime of a new Writer.
	drainTime = 2 * time.Second
)

// Writer writes events in the background.
type Writer struct {
	// DrainTime is how long Close may take. It may be changed before.
	DrainTime time.Duration

	sink   record.EventSink
	scheme *runtime.Scheme
	seed   maphash.Seed
	queues [writers]chan *corev1.Event

	// closing guards closed and the queues against events after Close.
	closing sync.RWMutex
	closed  bool
	running sync.WaitGroup
	// ending is closed by Close: there are no retries from then on.
	ending chan struct{}
	// late is closed after DrainTime: queued events are then dropped.
	late chan struct{}
}

// NewWriter starts to write to sink, until Close.
func NewWriter(sink record.EventSink, scheme *runtime.Scheme) *Writer {
	w := &Writer{DrainTime: drainTime, sink: sink, scheme: scheme, seed: maphash.MakeSeed(),
		ending: make(chan struct{}), late: make(chan struct{})}
	for i := range w.queues {
		w.queues[i] = make(chan *corev1.Event, queued)
		w.running.Go(func() { w.drain(w.queues[i]) })
	}
	return w
}

// Recorder returns the event recorder of a component.
func (w *Writer) Recorder(component string) record.EventRecorder {
	return recorder{writer: w, component: component}
}

// Close writes the queued events, for at most DrainTime and the writes in progress then. Later events are dropped.
func (w *Writer) Close() {
	w.closing.Lock()
	w.closed = true
	close(w.ending)
	for _, q := range w.queues {
		close(q)
	}
	w.closing.Unlock()
	timer := time.AfterFunc(w.DrainTime, func() { close(w.late) })
	w.running.Wait()
	timer.Stop()
}

func (w *Writer) add(event *corev1.Event) {
	w.closing.RLock()
	defer w.closing.RUnlock()
	if w.closed {
		return
	}
	i := maphash.String(w.seed, string(event.InvolvedObject.UID)) % writers
	select {
	case w.queues[i] <- event:
	default:
		klog.V(2).InfoS("Event dropped, too many wait", "reason", event.Reason, "object", event.InvolvedObject.Name)
	}
}

func (w *Writer) drain(queue <-chan *corev1.Event) {
	correlator := newCorrelator(clock.RealClock{})
	for event := range queue {
		select {
		case <-w.late:
			continue
		default:
		}
		if err := w.write(correlator, event); err != nil {
			klog.V(2).InfoS("Event lost", "reason", event.Reason, "object", event.InvolvedObject.Name, "err", err)
		}
	}
}

// recorder implements record.EventRecorder for one component.
type recorder struct {
	writer    *Writer
	component string
}

func (r recorder) Event(object runtime.Object, eventType, reason, message string) {
	r.record(object, nil, eventType, reason, message)
}

func (r recorder) Eventf(object runtime.Object, eventType, reason, format string, args ...any) {
	r.record(object, nil, eventType, reason, fmt.Sprintf(format, args...))
}

//nolint:revive // The interface is client-go's.
func (r recorder) AnnotatedEventf(object runtime.Object, annotations map[string]string, eventType, reason, format string, args ...any) {
	r.record(object, annotations, eventType, reason, fmt.Sprintf(format, args...))
}

func (r recorder) record(object runtime.Object, annotations map[string]string, eventType, reason, message string) {
	about, err := reference.GetReference(r.writer.scheme, object)
	if err != nil {
		klog.ErrorS(err, "Event about an object of no known kind", "reason", reason)
		return
	}
	now := metav1.Now()
	namespace := about.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	r.writer.add(&corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name:        util.GenerateEventName(about.Name, now.UnixNano()),
			Namespace:   namespace,
			Annotations: annotations,
		},
		InvolvedObject:      *about,
		Reason:              reason,
		Message:             message,
		Source:              corev1.EventSource{Component: r.component},
		ReportingController: r.component,
		FirstTimestamp:      now,
		LastTimestamp:       now,
		Count:               1,
		Type:                eventType,
	})
}
