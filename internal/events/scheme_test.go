package events_test

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/events"
)

func TestAnEventNamesTheScheduledJobThatItIsAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &ledger{}
		w := events.NewWriter(sink, events.Scheme)
		// Objects that a client has decoded have no kind.
		sj := &stintv1.ScheduledJob{ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: "default", UID: "u"}}
		w.Recorder("scheduledjob-controller").Event(sj, corev1.EventTypeNormal, "SuccessfulCreate", "Created job nightly-x")
		w.Close()
		want := corev1.ObjectReference{APIVersion: "stint.dev/v1", Kind: "ScheduledJob", Name: "nightly", Namespace: "default", UID: "u"}
		if len(sink.created) != 1 || sink.created[0].InvolvedObject != want {
			t.Errorf("got %+v, want one about %+v", sink.created, want)
		}
	})
}
