package events

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"
)

func anEvent(n int, now time.Time, object, reason, message string) *corev1.Event {
	at := metav1.NewTime(now)
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("event-", n)},
		InvolvedObject: corev1.ObjectReference{Kind: "Job", Namespace: "default", Name: object, UID: types.UID(object)},
		Source:         corev1.EventSource{Component: "job-controller"}, Type: corev1.EventTypeNormal,
		Reason: reason, Message: message, FirstTimestamp: at, LastTimestamp: at, Count: 1,
	}
}

func decoded(t *rapid.T, patch []byte) (m map[string]any) {
	if err := json.Unmarshal(patch, &m); err != nil {
		t.Fatalf("patch %s: %v", patch, err)
	}
	return m
}

func TestWhatIsWrittenIsWhatClientGoWouldWrite(t *testing.T) {
	pauses := append(make([]time.Duration, 30), time.Second, 15*time.Second, 11*time.Minute)
	rapid.Check(t, func(t *rapid.T) {
		clock := clocktesting.NewFakePassiveClock(time.Unix(1_700_000_000, 0))
		theirs := record.NewEventCorrelatorWithOptions(record.CorrelatorOptions{QPS: aboutOne, Clock: clock})
		ours := newCorrelator(clock)
		for n := range rapid.IntRange(1, 120).Draw(t, "events") {
			pause := rapid.SampledFrom(pauses).Draw(t, "pause")
			clock.SetTime(clock.Now().Add(pause))
			// Of events that are many and come again, client-go forgets any: a few come again, or many do not.
			object, message := "few", rapid.IntRange(1, similarOnes-1).Draw(t, "message")
			if rapid.Bool().Draw(t, "new") {
				object, message = "many", n
			}
			event := anEvent(n, clock.Now(), object, rapid.SampledFrom([]string{"Created", "Deleted"}).Draw(t, "reason"), fmt.Sprint(message))
			want, err := theirs.EventCorrelate(event.DeepCopy())
			if err != nil {
				t.Fatal(err)
			}
			got := ours.correlate(event)
			if (got == nil) != want.Skip {
				t.Fatalf("event %d: dropped %t, client-go's %t", n, got == nil, want.Skip)
			}
			if got == nil {
				continue
			}
			if diff := cmp.Diff(want.Event, got); diff != "" {
				t.Fatalf("event %d: %s", n, diff)
			}
			theirs.UpdateState(want.Event)
			if got.Count > 1 {
				patch, err := countPatch(got)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(decoded(t, want.Patch), decoded(t, patch)); diff != "" {
					t.Fatalf("event %d: %s", n, diff)
				}
			}
		}
	})
}

func TestAnEventThatIsDroppedTakesLittleMemory(t *testing.T) {
	const events, bound = 2000, 2500
	now := time.Unix(1_700_000_000, 0)
	c := newCorrelator(clocktesting.NewFakePassiveClock(now))
	var all []*corev1.Event
	for n := range events {
		all = append(all, anEvent(n, now, "a", "Created", fmt.Sprint("Created pod: a-", n)))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	written := 0
	for _, event := range all {
		if c.correlate(event) != nil {
			written++
		}
	}
	runtime.ReadMemStats(&after)
	if written != burst {
		t.Errorf("%d are written, not %d", written, burst)
	}
	if each := (after.TotalAlloc - before.TotalAlloc) / events; each > bound {
		t.Errorf("%d bytes an event, more than %d", each, bound)
	}
}
