package scenario_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	controller "github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/test/kube"
)

func newMeasuredReference(t *testing.T, cluster *kube.Cluster) (*column, func() map[string]float64) {
	port, err := cluster.HoldPort()
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	c := newReferenceColumn(t, cluster, "--bind-address=127.0.0.1", "--secure-port="+strconv.Itoa(port), "--authorization-always-allow-paths=/metrics")
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // a certificate of its own
	t.Cleanup(client.CloseIdleConnections)
	return c, func() map[string]float64 {
		answer, err := client.Get("https://" + address + "/metrics")
		if err != nil {
			return nil // it is starting
		}
		defer answer.Body.Close()
		return readSeries(t, answer.Body)
	}
}

func newMeasuredServer(t *testing.T) (*column, func() map[string]float64) {
	registry := prometheus.NewRegistry()
	return startServer(t, controller.Options{Registerer: registry}), reader(t, registry)
}

func newMeasuredCluster(t *testing.T, cluster *kube.Cluster) (*column, func() map[string]float64) {
	registry := prometheus.NewRegistry()
	return newClusterColumn(t, cluster, registry), reader(t, registry)
}

func reader(t *testing.T, registry *prometheus.Registry) func() map[string]float64 {
	handler := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return func() map[string]float64 {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return readSeries(t, answer.Body)
	}
}

// readSeries reads the Job controller's series, keyed by name and labels as they are written. Of histograms it takes
// the number of observations and the bounds.
func readSeries(t *testing.T, from io.Reader) map[string]float64 {
	text, err := io.ReadAll(from)
	if err != nil {
		t.Error(err)
	}
	values := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		end := strings.LastIndex(line, " ")
		if end < 0 || !strings.HasPrefix(line, "job_controller_") {
			continue
		}
		if value, err := strconv.ParseFloat(strings.TrimSpace(line[end+1:]), 64); err == nil {
			values[line[:end]] = value
		}
	}
	return values
}
