package events

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
)

const (
	// correlatorCacheSize is how many events and objects a correlator remembers.
	correlatorCacheSize = 4096
	// burst is how many events about one object are written at once, aboutOne the sustained rate per second. A schedule
	// that is due every minute has three or four events each time; client-go's limit, one in five minutes, would soon
	// drop most of them.
	burst    = 25
	aboutOne = 0.1
	// similarOnes is how many events that differ only in their message are written before further ones are merged, if they
	// come within similarFor seconds.
	similarOnes, similarFor = 10, 600
)

// correlator decides as client-go's correlator does. That computes a patch for each event before it applies the rate limit. A
// large Job has an event for each pod, and nearly all are dropped: here a patch is computed only for events that are written.
type correlator struct {
	similar   *record.EventAggregator
	rateLimit *record.EventSourceObjectSpamFilter
	seen      *lru.Cache
}

// observation is what is remembered of an earlier event.
type observation struct {
	count int32
	name  string
	first metav1.Time
}

func newCorrelator(c clock.PassiveClock) *correlator {
	return &correlator{
		similar: record.NewEventAggregator(correlatorCacheSize, record.EventAggregatorByReasonFunc, record.EventAggregatorByReasonMessageFunc,
			similarOnes, similarFor, c),
		rateLimit: record.NewEventSourceObjectSpamFilter(correlatorCacheSize, burst, aboutOne, c, subject),
		seen:      lru.New(correlatorCacheSize),
	}
}

// subject is the key of the rate limit: the component and the object.
func subject(event *corev1.Event) string {
	o := &event.InvolvedObject
	return strings.Join([]string{event.Source.Component, o.APIVersion, o.Kind, o.Namespace, o.Name, string(o.UID)}, "/")
}

// correlate returns what to write for an event: the event, or an earlier one like it with a higher count. It returns nil if the
// event is dropped, which counts as well.
func (c *correlator) correlate(event *corev1.Event) *corev1.Event {
	similar, key := c.similar.EventAggregate(event)
	next := *similar
	if known, found := c.seen.Get(key); found {
		was := known.(observation)
		next.Name, next.FirstTimestamp, next.Count = was.name, was.first, was.count+1
	}
	c.seen.Add(key, observation{count: next.Count, name: next.Name, first: next.FirstTimestamp})
	if c.rateLimit.Filter(&next) {
		return nil
	}
	return &next
}

// countPatch returns the patch that updates the count of a stored event.
func countPatch(event *corev1.Event) ([]byte, error) {
	return json.Marshal(map[string]any{"count": event.Count, "lastTimestamp": event.LastTimestamp, "message": event.Message})
}
