package apiserver_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/test/await"
)

func TestInformersGoOnAfterTheWatchCacheWasInterrupted(t *testing.T) {
	r, full := startWithMemory(t)
	ctx, maps := t.Context(), r.Client().ConfigMaps()
	informer := maps.Informer()
	if err := r.StartInformers(ctx); err != nil {
		t.Fatal(err)
	}
	made := must[*corev1.ConfigMap](t)(maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "large", Namespace: "default"}}))
	for i := range 40 {
		made = must[*corev1.ConfigMap](t)(maps.Modify(ctx, made, func(m *corev1.ConfigMap) {
			m.Data = map[string]string{"a": fmt.Sprint(i) + strings.Repeat("x", 400<<10)}
		}))
	}
	full.Store(true)
	_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "refused", Namespace: "default"}})
	if err == nil {
		t.Fatal("not refused")
	}
	full.Store(false)
	for i := range 20 {
		name := fmt.Sprintf("after-%d", i)
		must[*corev1.ConfigMap](t)(maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}))
		await.Until(t, "the informer shows "+name, func() bool {
			_, ok, _ := informer.GetStore().GetByKey("default/" + name)
			return ok
		})
	}
}
