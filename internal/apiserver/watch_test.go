package apiserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/stint-dev/stint/test/await"
)

// next returns the next watch event. It skips all bookmarks except the one that ends the initial events.
func next(t *testing.T, w watch.Interface) watch.Event {
	t.Helper()
	for {
		e := await.Value(t, "an event", w.ResultChan())
		if e.Object == nil {
			t.Fatal("the watch has ended")
		}
		if e.Type != watch.Bookmark || e.Object.(metav1.Object).GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
			return e
		}
	}
}

func TestAWatchStreamsTheListFirstAndMarksItsEnd(t *testing.T) {
	r := start(t)
	for name, config := range map[string]*kubernetes.Clientset{
		"over TLS":  r.clientset(t),
		"in memory": kubernetes.NewForConfigOrDie(r.RESTConfig()),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			prefix := strings.ReplaceAll(strings.ToLower(name), " ", "-")
			maps := config.CoreV1().ConfigMaps("default")
			label := metav1.ListOptions{LabelSelector: "of=" + prefix}
			m := configMap(prefix+"-old", nil)
			m.Labels = map[string]string{"of": prefix}
			must[*corev1.ConfigMap](t)(maps.Create(ctx, m, metav1.CreateOptions{}))

			label.SendInitialEvents, label.AllowWatchBookmarks = new(true), true
			label.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
			w, err := maps.Watch(ctx, label)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			if e := next(t, w); e.Type != watch.Added || e.Object.(*corev1.ConfigMap).Name != prefix+"-old" {
				t.Errorf("first %v", e)
			}
			e := next(t, w)
			if e.Type != watch.Bookmark || e.Object.(*corev1.ConfigMap).Annotations[metav1.InitialEventsAnnotationKey] != "true" {
				t.Errorf("then %v, want the bookmark that ends the list", e)
			}
			m.Name = prefix + "-new"
			must[*corev1.ConfigMap](t)(maps.Create(ctx, m, metav1.CreateOptions{}))
			if e := next(t, w); e.Type != watch.Added || e.Object.(*corev1.ConfigMap).Name != m.Name {
				t.Errorf("then %v", e)
			}
			if err := maps.Delete(ctx, m.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			if e := next(t, w); e.Type != watch.Deleted {
				t.Errorf("then %v", e)
			}
		})
	}
}

func TestTablesAreWhatKubectlPrints(t *testing.T) {
	r := start(t)
	must[*corev1.ConfigMap](t)(configMaps(t, r).Create(t.Context(), configMap("m", map[string]string{"a": "1"}), metav1.CreateOptions{}))
	raw, err := r.clientset(t).CoreV1().RESTClient().Get().Namespace("default").Resource("configmaps").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var table metav1.Table
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.ColumnDefinitions) != 3 || len(table.Rows) != 1 || table.Rows[0].Cells[0] != "m" || table.ResourceVersion == "" {
		t.Errorf("table %s", raw)
	}
}
