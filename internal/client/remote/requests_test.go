package remote_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/client/remote"
	"github.com/stint-dev/stint/test/wrappers"
)

// recorder records the requests of a client.
type recorder struct {
	http.RoundTripper
	mu   sync.Mutex
	seen []request
}

// request is the part of a request that the tests compare.
type request struct{ Verb, Path, Timeout, Type, Accept, Body string }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	seen := request{Verb: req.Method, Path: req.URL.Path, Timeout: req.URL.Query().Get("timeout"),
		Type: req.Header.Get("Content-Type"), Accept: req.Header.Get("Accept")}
	if strings.HasSuffix(seen.Type, "+json") && req.GetBody != nil {
		if body, err := req.GetBody(); err == nil {
			b, _ := io.ReadAll(body)
			seen.Body = string(b)
		}
	}
	r.mu.Lock()
	r.seen = append(r.seen, seen)
	r.mu.Unlock()
	return r.RoundTripper.RoundTrip(req)
}

// taken returns the requests since the last call.
func (r *recorder) taken() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.seen
	r.seen = nil
	return seen
}

func recorded(t *testing.T, contentType string) (*remote.Client, *recorder, string) {
	t.Helper()
	config := overTheNetwork(t, startServer(t))
	r := &recorder{}
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { r.RoundTripper = rt; return r })
	namespace := namespaces(config)(t)
	config.ContentType = contentType
	c, err := remote.New(config)
	if err != nil {
		t.Fatal(err)
	}
	r.taken()
	return c, r, namespace
}

const (
	protobuf = "application/vnd.kubernetes.protobuf"
	patches  = "application/strategic-merge-patch+json"
)

func TestAPodsLifeTakesOneRequestPerChange(t *testing.T) {
	c, requests, namespace := recorded(t, "")
	pod := wrappers.MakePod("").GenerateName("p-").Namespace(namespace).Finalizers("batch.kubernetes.io/job-tracking").Obj()
	made, err := c.Pods().Create(t.Context(), pod)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Pods().Modify(t.Context(), made, func(p *corev1.Pod) { p.Finalizers = nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Pods().Modify(t.Context(), made, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }); err != nil {
		t.Fatal(err)
	}
	if err := c.Pods().Delete(t.Context(), made, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	const accept, timeout = protobuf + ",application/json", "1m10s"
	all := "/api/v1/namespaces/" + namespace + "/pods"
	one := all + "/" + made.Name
	want := []request{
		{"POST", all, timeout, protobuf, accept, ""},
		{"PATCH", one, timeout, patches, accept, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["batch.kubernetes.io/job-tracking"],` +
			`"uid":"` + string(made.UID) + `"}}`},
		{"DELETE", one, timeout, protobuf, accept, ""},
	}
	if d := cmp.Diff(want, requests.taken()); d != "" {
		t.Errorf("requests (-want +got):\n%s", d)
	}
}

func TestJSONWhereItIsAskedFor(t *testing.T) {
	c, requests, namespace := recorded(t, "application/json")
	if _, err := c.Pods().Get(t.Context(), namespace, "p"); err == nil {
		t.Fatal("there is a pod")
	}
	got := requests.taken()
	if len(got) != 1 || strings.Contains(got[0].Accept, "protobuf") {
		t.Errorf("requests: %+v", got)
	}
}

func TestInformersStream(t *testing.T) {
	c, requests, _ := recorded(t, "")
	informer := c.Jobs().Informer()
	ctx, cancel := context.WithCancel(t.Context())
	c.Start(ctx)
	untilSynced(t, informer)
	cancel()
	c.Wait()
	want := []request{{"GET", "/apis/batch/v1/jobs", "", "", protobuf + ",application/json", ""}}
	if d := cmp.Diff(want, requests.taken()); d != "" {
		t.Errorf("requests (-want +got):\n%s", d)
	}
}

// Only a client in process can delete an object together with its finalizer: elsewhere it must not be deleted without.
func TestADeletionWithTheLastFinalizerIsRefused(t *testing.T) {
	c, r, namespace := recorded(t, "application/json")
	p := wrappers.MakePod("p").Namespace(namespace).Obj()
	err := c.Pods().Delete(t.Context(), p, client.DeleteOptions{LastFinalizer: "example.com/f"})
	if err == nil || !strings.Contains(err.Error(), "example.com/f") || len(r.taken()) > 0 {
		t.Errorf("the error is %v", err)
	}
}
