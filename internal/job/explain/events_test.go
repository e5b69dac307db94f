package explain

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// The API's times are whole seconds.
func TestOfEventsInOneSecondTheNewestIsShown(t *testing.T) {
	event := func(nanoseconds, kind string) corev1.Event {
		return corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "claim." + nanoseconds}, Type: kind,
			InvolvedObject: corev1.ObjectReference{UID: "claim"}, LastTimestamp: metav1.Unix(7, 0)}
	}
	list := events{event("17f3a1", corev1.EventTypeNormal), event("17f3b2", corev1.EventTypeNormal), event("17f3a9", corev1.EventTypeWarning)}
	if got := list.newest("claim"); got.Name != "claim.17f3b2" {
		t.Errorf("got %s", got.Name)
	}
}

func TestOfFailuresInOneSecondTheNewestAreShown(t *testing.T) {
	var results []stintv1.PodResult
	for _, name := range []string{"1", "2", "3", "4", "5"} {
		at := metav1.Unix(7, 0)
		results = append(results, stintv1.PodResult{Pod: name, Phase: corev1.PodFailed, FinishedAt: &at})
	}
	for i, want := range []string{"5", "4", "3"} {
		if got := newestFailures(results)[i].Pod; got != want {
			t.Errorf("failure %d is %s, want %s", i, got, want)
		}
	}
}
