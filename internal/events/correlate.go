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
	// correlatorCacheSize is how many events and objects are kept in mind.
	correlatorCacheSize = 4096
	// burst is how many events about one object are written at once, and aboutOne how many a second for long. A schedule
	// that is due every minute has three or four of them each time; client-go's own limit, one in five minutes, would soon
	// leave most of them out.
	burst    = 25
	aboutOne = 0.1
	// similarOnes is how many events that differ in their message alone are written before they become one, for as long as
	// they come within so many seconds.
	similarOnes, similarFor = 10, 600
)

// correlator decides as client-go's, which makes a patch of each event before it asks whether there are too many. A large
// Job has an event for each pod, and nearly all are dropped: here a patch is made of what is written.
type correlator struct {
	similar   *record.EventAggregator
	rateLimit *record.EventSourceObjectSpamFilter
	seen      *lru.Cache
}

// observation is what is known of an event that came before.
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

// subject is what floods are told by: one component's events about one object.
func subject(event *corev1.Event) string {
	o := &event.InvolvedObject
	return strings.Join([]string{event.Source.Component, o.APIVersion, o.Kind, o.Namespace, o.Name, string(o.UID)}, "/")
}

// correlate returns what to write for an event: itself, or one like it that was seen before, counted up. Nil if it is to
// be dropped; it counts all the same.
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

// countPatch turns an event that is stored into the same one, counted up.
func countPatch(event *corev1.Event) ([]byte, error) {
	return json.Marshal(map[string]any{"count": event.Count, "lastTimestamp": event.LastTimestamp, "message": event.Message})
}
