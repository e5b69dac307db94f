package differential_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/test/kube"
)

// endpoint is one of the two servers.
type endpoint struct {
	name   string
	url    string
	client *http.Client
	// cluster is nil for Stint.
	cluster *kube.Cluster
}

func newEndpoint(t testing.TB, name string, config *rest.Config) *endpoint {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	must(t, err)
	t.Cleanup(client.CloseIdleConnections)
	host := config.Host
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	return &endpoint{name: name, url: host, client: client}
}

func TestMain(m *testing.M) {
	kube.Main(m, kube.Options{APIServerFlags: []string{"--allow-privileged=true", "--service-cluster-ip-range=" + serviceRange}}) // as kubeadm has it
}

func kubernetes(t testing.TB) *endpoint {
	cluster := kube.Shared(t)
	e := newEndpoint(t, "Kubernetes", cluster.Config())
	e.cluster = cluster
	return e
}

// define creates the CustomResourceDefinition in a file on the cluster.
func (e *endpoint) define(t testing.TB, file string) {
	t.Helper()
	must(t, e.cluster.InstallCRD(t.Context(), file))
}

// stint is a server without controllers, which would change what is stored, and without a node, so that nothing is
// refused for what the machine cannot do.
func stint(t testing.TB) *endpoint {
	klog.SetLogger(logr.Discard()) // It logs refusals as errors; the test compares them.
	s, err := server.Start(t.Context(), server.Options{DataDir: t.TempDir(), ReadOnly: true})
	must(t, err)
	t.Cleanup(func() { s.Wait() })
	return newEndpoint(t, "Stint", s.RESTConfig())
}

// call is one HTTP request.
type call struct {
	method, path string
	query        map[string]string
	contentType  string
	accept       string
	body         []byte
}

// reply is the response of a server.
type reply struct {
	code     int
	body     []byte
	warnings []string
}

// do sends the request. A connection that breaks, as it does when a handler panics, is a reply too, with code 0.
func (e *endpoint) do(c call) (reply, error) {
	query := url.Values{}
	for key, value := range c.query {
		query.Set(key, value)
	}
	req, err := http.NewRequest(c.method, e.url+c.path+"?"+query.Encode(), bytes.NewReader(c.body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", c.contentType)
	req.Header.Set("User-Agent", "client") // the name of field managers that have none
	req.Header.Set("Accept", cmp.Or(c.accept, "application/json"))
	resp, err := e.client.Do(req)
	if err != nil {
		return reply{body: []byte(err.Error())}, nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{code: resp.StatusCode, body: body, warnings: resp.Header["Warning"]}, err
}

// want makes a request that must succeed.
func (e *endpoint) want(c call) (object map[string]any, err error) {
	r, err := e.do(c)
	if err != nil {
		return nil, err
	}
	if r.code/100 != 2 {
		return nil, fmt.Errorf("%s: %s %s: %s\n%s", e.name, c.method, c.path, r.body, c.body)
	}
	return object, json.Unmarshal(r.body, &object)
}
