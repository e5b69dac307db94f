package apiserver_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// FuzzPatch sends patches of every type. Each must get a response, and none may break the connection.
func FuzzPatch(f *testing.F) {
	kinds := []types.PatchType{types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyYAMLPatchType}
	for i := range kinds {
		for _, body := range []string{
			`[{"op":"test","path":""}]`, `[{"op":"replace","path":""}]`, `[{"op":"add","path":"/metadata/labels/x"}]`,
			`[{"op":"test","path":"","value":null}]`, `[{"op":"remove","path":""}]`, `[{"op":"move","path":"/spec","from":""}]`,
			`[{"op":"copy","path":"/metadata/labels","from":"/metadata"}]`, `[{"op":"add","path":"/spec/containers/99","value":1}]`,
			`[null]`, `[]`, `null`, `{}`, `"x"`, `5`, ``, `{`, "\xff", `[[]]`, `[{"op":5,"path":{}}]`,
			`{"metadata":null}`, `{"spec":[]}`, `{"spec":{"containers":null}}`, `{"metadata":{"name":"other"}}`,
			`{"spec":{"containers":[{"$patch":"delete","name":"main"}]}}`, `{"$patch":"replace"}`, `{"$patch":"x"}`,
			`{"spec":{"$setElementOrder/containers":[{"name":"z"}]}}`, `{"metadata":{"$retainKeys":["x"],"labels":{}}}`,
			`{"spec":{"containers":[{"name":null}]}}`, `{"$deleteFromPrimitiveList/finalizers":[1]}`,
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{}]}}`, "a: &a [*a]", "a: b: c",
			strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000), strings.Repeat("[", 2000),
		} {
			f.Add(uint8(i), body)
		}
	}
	r := start(f)
	must[*corev1.Pod](f)(r.clientset(f).CoreV1().Pods("default").Create(f.Context(), pod("a"), metav1.CreateOptions{}))
	client, err := rest.HTTPClientFor(r.http)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, kind uint8, body string) {
		url := r.http.Host + "/api/v1/namespaces/default/pods/a?fieldManager=fuzz&dryRun=All"
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, url, bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", string(kinds[int(kind)%len(kinds)]))
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		// Some strategic merge patches get an internal error, as in Kubernetes. That is a valid response.
		answered := response.StatusCode < 500 || strings.Contains(string(text), `"kind":"Status"`)
		if err != nil || !answered {
			t.Errorf("%s %q: %s, %v: %s", request.Header.Get("Content-Type"), body, response.Status, err, text)
		}
	})
}
