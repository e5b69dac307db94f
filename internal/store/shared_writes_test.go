package store_test

import (
	"fmt"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"

	"github.com/stint-dev/stint/internal/store"
	"github.com/stint-dev/stint/test/await"
)

// writeOf creates a ConfigMap in to, and returns the result and the object of its event.
func writeOf(t *testing.T, maps *store.Storage, to storage.Interface, name string) (result, event *corev1.ConfigMap) {
	t.Helper()
	subscription, version := maps.Subscribe()
	w, err := subscription.Watch(t.Context(), version, func(runtime.Object) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	given := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"k": "v"}}
	result = &corev1.ConfigMap{}
	if err := to.Create(t.Context(), "/configmaps/"+name, given, result, 0); err != nil {
		t.Fatal(err)
	}
	for {
		if e := await.Value(t, "the event", w.ResultChan()); e.Object.(*corev1.ConfigMap).Name == name {
			return result, e.Object.(*corev1.ConfigMap)
		}
	}
}

func shareMemory(a, b *corev1.ConfigMap) bool {
	return reflect.ValueOf(a.Data).Pointer() == reflect.ValueOf(b.Data).Pointer()
}

// The event of a write may come before its result. Then both are decoded.
func TestADirectWriteIsDecodedOnce(t *testing.T) {
	maps := configMaps(t, open(t, t.TempDir()))
	i := 0
	await.Until(t, "an event that shares the memory of the result", func() bool {
		i++
		result, event := writeOf(t, maps, maps.Direct, fmt.Sprint("m", i))
		if event.ResourceVersion != result.ResourceVersion || event.Data["k"] != "v" {
			t.Fatalf("the event is %v, the result %v", event, result)
		}
		return shareMemory(result, event)
	})
}

func TestACallerMayChangeTheResultOfACachedWrite(t *testing.T) {
	maps := configMaps(t, open(t, t.TempDir()))
	for i := range 20 {
		if result, event := writeOf(t, maps, maps.Cached, fmt.Sprint("m", i)); shareMemory(result, event) {
			t.Fatal("the result shares memory with the cache")
		}
	}
}
