package apiserver_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"

	"github.com/stint-dev/stint/test/await"
)

func TestABroadcastersEventsAreKeptAndCountedUp(t *testing.T) {
	r := start(t)
	made := must[*corev1.Pod](t)(r.Client().Pods().Create(t.Context(), pod("a")))
	broadcaster := record.NewBroadcaster()
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(r.Client().Events())
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "test"})
	events := r.clientset(t).CoreV1().Events("default")
	for _, count := range []int32{1, 2, 3} {
		recorder.Event(made, corev1.EventTypeNormal, "Because", "it happened")
		await.Until(t, "the event is counted", func() bool {
			list, err := events.List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=a"})
			return err == nil && len(list.Items) == 1 && list.Items[0].Count == count
		})
	}
}
