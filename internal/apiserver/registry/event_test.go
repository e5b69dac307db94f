package registry

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

func TestEvents(t *testing.T) {
	event := func(namespace, about string) *corev1.Event {
		return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}, InvolvedObject: corev1.ObjectReference{Namespace: about}}
	}
	modern := event("a", "a")
	modern.EventTime = metav1.NewMicroTime(registrytest.Now)
	whole := modern.DeepCopy()
	whole.ReportingController, whole.ReportingInstance, whole.Action, whole.Reason = "stint.dev/job", "stint-1", "Create", "Created"
	wordy := whole.DeepCopy()
	wordy.Message, wordy.Action, wordy.ReportingController = strings.Repeat("x", 1025), strings.Repeat("x", 129), "a b"
	runObjectCases(t, Event(), map[string]objectCase{
		"an event is near its object":                {obj: event("a", "a")},
		"an event is not elsewhere":                  {obj: event("a", "b"), want: []string{"involvedObject.namespace Invalid"}},
		"an event of a node is in default":           {obj: event("default", "")},
		"an event of a node is nowhere else":         {obj: event("a", ""), want: []string{"involvedObject.namespace Invalid"}},
		"an event of a new client says who and what": {obj: modern, want: []string{"action Required", "reason Required", "reportingComponent Required", "reportingInstance Required"}},
		"an event that says who and what is fine":    {obj: whole},
		"an event of a new client is brief":          {obj: wordy, want: []string{"action TooLong", "message TooLong", "reportingComponent Invalid"}},
	})
}

func TestEventRow(t *testing.T) {
	about := corev1.ObjectReference{Kind: "Pod", Name: "pi-1", FieldPath: "spec.containers{pi}"}
	for sentence, c := range map[string]struct {
		event corev1.Event
		want  []any
	}{
		"an event of an old client": {corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: "e"}, InvolvedObject: about, Type: "Normal", Reason: "Started", Message: " Container started\n",
			Source: corev1.EventSource{Component: "node", Host: "n1"}, FirstTimestamp: registrytest.Ago(time.Hour), LastTimestamp: registrytest.Ago(time.Minute), Count: 3,
		}, []any{"60s", "Normal", "Started", "pod/pi-1", "spec.containers{pi}", "node, n1", "Container started", "60m", int64(3), "e"}},
		"an event of a new client": {corev1.Event{
			InvolvedObject: corev1.ObjectReference{Kind: "Job"}, EventTime: metav1.NewMicroTime(registrytest.Now.Add(-time.Minute)),
			ReportingController: "job", ReportingInstance: "job-1",
		}, []any{"60s", "", "", "job", "", "job, job-1", "", "60s", int64(1), ""}},
		"a series of events": {corev1.Event{
			EventTime: metav1.NewMicroTime(registrytest.Now.Add(-time.Hour)),
			Series:    &corev1.EventSeries{Count: 7, LastObservedTime: metav1.NewMicroTime(registrytest.Now.Add(-time.Second))},
		}, []any{"1s", "", "", "", "", "", "", "60m", int64(7), ""}},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, eventRow(&c.event, registrytest.Now)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEventsAreSelectedBySource(t *testing.T) {
	for sentence, c := range map[string]struct {
		event corev1.Event
		want  string
	}{
		"an old client names its source":  {corev1.Event{Source: corev1.EventSource{Component: "node"}, ReportingController: "job"}, "node"},
		"a new client names a controller": {corev1.Event{ReportingController: "job"}, "job"},
	} {
		if got := Event().Fields(&c.event)["source"]; got != c.want {
			t.Errorf("%s: %q, want %q", sentence, got, c.want)
		}
	}
}
