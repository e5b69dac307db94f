package scenario_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// subject is an object of the scene that events are about.
type subject struct {
	*scene
	kind, name string
	uid        types.UID
}

// apiVersions are those of the subjects' kinds.
var apiVersions = map[string]string{
	"Job":          batchv1.SchemeGroupVersion.String(),
	"CronJob":      batchv1.SchemeGroupVersion.String(),
	"ScheduledJob": stintv1.SchemeGroupVersion.String(),
}

// tells waits until the events about it have exactly these reasons in this order; repetitions in a row are one.
// An entry "Reason: text" asks for the last message as well.
func (o subject) tells(want ...string) {
	o.Helper()
	if o.losesEvents {
		return
	}
	o.eventually(func(h *history) string {
		got := reasons(h.events(o.uid), want)
		if slices.Equal(got, want) {
			return ""
		}
		return fmt.Sprintf("the events of %s %s (- want, + got):\n%s", o.kind, o.name, cmp.Diff(want, got))
	})
}

func reasons(events []*corev1.Event, want []string) []string {
	var got []string
	last := ""
	for _, e := range events {
		if e.Reason != last {
			got = append(got, e.Reason)
		}
		last = e.Reason
		n := len(got) - 1
		if n < len(want) && strings.Contains(want[n], ": ") {
			got[n] = e.Reason + ": " + e.Message
		}
	}
	return got
}

// tellsOf waits until there is an event about it for this reason. An entry "Reason: text" asks for the message as well.
func (o subject) tellsOf(want string) {
	o.Helper()
	if o.losesEvents {
		return
	}
	o.eventually(func(h *history) string {
		if slices.ContainsFunc(h.events(o.uid), func(e *corev1.Event) bool { return want == e.Reason || want == e.Reason+": "+e.Message }) {
			return ""
		}
		return fmt.Sprintf("an event %s about %s %s", want, o.kind, o.name)
	})
}

// says waits until exactly these events are written, one of each, in this order.
func (o subject) says(want ...string) {
	o.Helper()
	o.eventually(func(h *history) string {
		var got []string
		for _, e := range h.events(o.uid) {
			got = append(got, fmt.Sprintf("%s %s: %s", e.Type, e.Reason, e.Message))
			if wrong := o.sign(e); wrong != "" {
				return wrong
			}
		}
		if slices.Equal(got, want) {
			return ""
		}
		return "the events (- want, + got):\n" + cmp.Diff(want, got)
	})
}

// sign returns what is wrong with the source of an event and with its object.
func (o subject) sign(e *corev1.Event) string {
	about := corev1.ObjectReference{Kind: o.kind, APIVersion: apiVersions[o.kind], Namespace: o.namespace, Name: o.name, UID: o.uid}
	got := e.InvolvedObject
	got.ResourceVersion = ""
	component := strings.ToLower(o.kind) + "-controller"
	once := e.Count == 1 || o.column.reference // with a stale cache, upstream repeats an event
	return cmp.Diff([]any{about, component, component, true, false},
		[]any{got, e.Source.Component, e.ReportingController, once, e.FirstTimestamp.IsZero() || e.LastTimestamp.IsZero()})
}
