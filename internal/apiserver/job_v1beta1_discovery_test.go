package apiserver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/api/extensions/v1beta1"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
)

// ask sends a request and returns the response.
func ask(t *testing.T, config *rest.Config, method, path string, header map[string]string) (status int, kind, body string) {
	t.Helper()
	client := must[*http.Client](t)(rest.HTTPClientFor(config))
	req := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), method, config.Host+path, strings.NewReader("k8s\x00")))
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp := must[*http.Response](t)(client.Do(req))
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK && strings.Contains(path, "watch=") {
		return resp.StatusCode, resp.Header.Get("Content-Type"), ""
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), string(must[[]byte](t)(io.ReadAll(resp.Body)))
}

func TestDiscoveryPrefersBatch(t *testing.T) {
	s := apiservertest.Start(t)
	order := func(groups []string) string {
		var jobs []string
		for _, g := range groups {
			if g == "batch" || g == "extensions" {
				jobs = append(jobs, g)
			}
		}
		return strings.Join(jobs, " ")
	}

	var old metav1.APIGroupList
	_, _, body := ask(t, s.RESTConfig(), "GET", "/apis", map[string]string{"Accept": "application/json"})
	if err := json.Unmarshal([]byte(body), &old); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range old.Groups {
		names = append(names, g.Name)
	}
	if got := order(names); got != "batch extensions" {
		t.Errorf("groups: %s", got)
	}

	var all apidiscoveryv2.APIGroupDiscoveryList
	_, _, body = ask(t, s.RESTConfig(), "GET", "/apis", map[string]string{"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"})
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		t.Fatal(err)
	}
	names = nil
	for _, g := range all.Items {
		names = append(names, g.Name)
		if g.Name != "extensions" {
			continue
		}
		if len(g.Versions) != 1 || len(g.Versions[0].Resources) != 1 {
			t.Fatalf("extensions: %v", g.Versions)
		}
		jobs := g.Versions[0].Resources[0]
		if jobs.Resource != "jobs" || len(jobs.Categories) > 0 || len(jobs.Subresources) != 1 || jobs.ResponseKind.Kind != "Job" {
			t.Errorf("extensions has %v", jobs)
		}
	}
	if got := order(names); got != "batch extensions" {
		t.Errorf("groups at once: %s", got)
	}
}

func TestTheOldVersionHasNoProtobuf(t *testing.T) {
	config := apiservertest.Start(t).RESTConfig()
	must[*unstructured.Unstructured](t)(jobsOf(t, config).old.Create(t.Context(), manifest(v1beta1.SchemeGroupVersion, "j", nil), metav1.CreateOptions{}))
	const protobuf, jobs = "application/vnd.kubernetes.protobuf", "/apis/extensions/v1beta1/namespaces/default/jobs"
	for sentence, c := range map[string]struct {
		method, path, header, value string
		status                      int
	}{
		"asked for":                            {"GET", jobs + "/j", "Accept", protobuf, http.StatusNotAcceptable},
		"asked for in a list":                  {"GET", jobs, "Accept", protobuf, http.StatusNotAcceptable},
		"asked for in a watch":                 {"GET", jobs + "?watch=1", "Accept", protobuf + ";stream=watch", http.StatusNotAcceptable},
		"preferred":                            {"GET", jobs + "/j", "Accept", protobuf + ",application/json", http.StatusOK},
		"preferred in a list":                  {"GET", jobs, "Accept", protobuf + ",application/json", http.StatusOK},
		"preferred in a watch":                 {"GET", jobs + "?watch=1", "Accept", protobuf + ";stream=watch,application/json", http.StatusOK},
		"sent":                                 {"POST", jobs, "Content-Type", protobuf, http.StatusUnsupportedMediaType},
		"asked for where there is none either": {"GET", "/apis/stint.dev/v1/scheduledjobs", "Accept", protobuf + ",application/json", http.StatusOK},
	} {
		status, kind, body := ask(t, config, c.method, c.path, map[string]string{c.header: c.value})
		if status != c.status || status == http.StatusOK && !strings.HasPrefix(kind, "application/json") {
			t.Errorf("%s: %d %s, want %d: %s", sentence, status, kind, c.status, body)
		}
	}
}
