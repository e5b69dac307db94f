package scenario_test

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/apimachinery/pkg/util/wait"

	controller "github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/internal/server"
)

// measured are scenarios after which both controllers must have counted the same.
var measured = map[string][]scenario{
	"indexes":             slices.Concat(indexedScenarios, elasticScenarios),
	"limits per index":    perIndexScenarios,
	"failure policies":    podFailurePolicyScenarios,
	"success policies":    successPolicyScenarios,
	"replacement":         podReplacementScenarios,
	"suspension":          suspendScenarios,
	"managers and events": slices.Concat(managedByScenarios, eventScenarios),
}

// unmeasured are parts of names of scenarios in which a number depends on who is faster, or that both do not do alike.
var unmeasured = []string{
	"the delay", "waits twice as long", "the usual delay", "the next index starts", "does not let a higher one pass",
	"a failed pod is kept", "again and again", "names Stint", "a success comes while", "is replaced while it still ends",
	"FailJob comes before",
}

// TestMetricsAreUpstreams plays the same scenarios to kube-controller-manager and to stint server, and compares what
// they have counted.
func TestMetricsAreUpstreams(t *testing.T) {
	reference, theirs := newMeasuredReference(t)
	own, ours := newMeasuredServer(t)
	for name, scenarios := range measured {
		t.Run(name, func(t *testing.T) {
			var playing sync.WaitGroup
			for _, c := range []*column{reference, own} {
				for _, s := range scenarios {
					if isMeasured(s) {
						playing.Go(func() { measure(t, c, s) })
					}
				}
			}
			playing.Wait()
			awaitEqual(t, theirs, ours)
		})
		if t.Failed() {
			return // the numbers add up, so all that follow would differ too
		}
	}
	compareSyncs(t, theirs(), ours())
}

func isMeasured(s scenario) bool {
	return !s.restarts && !slices.ContainsFunc(unmeasured, func(part string) bool { return strings.Contains(s.name, part) })
}

func measure(t *testing.T, c *column, s scenario) {
	t.Run(c.name+"/"+s.name, func(t *testing.T) {
		namespace := fmt.Sprintf("measured-%x", sha256.Sum256([]byte(s.name)))
		newScene(t, c, namespace[:40]).run(func(sc *scene) {
			s.play(sc)
			sc.settle() // what the controller still has to make counts, too
		})
	})
}

// awaitEqual waits for the counters to be equal: what follows the last write is counted a moment later.
func awaitEqual(t *testing.T, theirs, ours func() map[string]float64) {
	diff := ""
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		diff = cmp.Diff(numbers(theirs()), numbers(ours()))
		return diff == "", nil
	})
	if err != nil {
		t.Errorf("kube-controller-manager (-) and Stint (+) have counted:\n%s", diff)
	}
}

// numbers leaves out how often Jobs are looked at, and counters that stand at 0 or that do not exist yet.
func numbers(series map[string]float64) map[string]float64 {
	maps.DeleteFunc(series, func(name string, value float64) bool { return value == 0 || strings.Contains(name, "_sync") })
	return series
}

// compareSyncs compares which series there are about syncs; how many it takes is each one's own business.
func compareSyncs(t *testing.T, theirs, ours map[string]float64) {
	names := func(series map[string]float64) []string {
		maps.DeleteFunc(series, func(name string, _ float64) bool {
			return !strings.Contains(name, "_sync") || strings.Contains(name, "stale_sync") || strings.Contains(name, `result="error"`)
		})
		return slices.Sorted(maps.Keys(series))
	}
	if diff := cmp.Diff(names(theirs), names(ours)); diff != "" {
		t.Errorf("kube-controller-manager (-) and Stint (+) have series about syncs:\n%s", diff)
	}
}

func newMeasuredReference(t *testing.T) (*column, func() map[string]float64) {
	cluster := startCluster(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	process, err := cluster.StartControllerManager("job-controller", slices.Concat(unlimited, []string{
		"--bind-address=127.0.0.1", "--secure-port=" + port, "--authorization-always-allow-paths=/metrics",
	})...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Kill)
	c := newColumn(t, onReference, cluster.Config(), nil)
	c.reference = true
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
	ctx, cancel := context.WithCancel(context.Background())
	running, err := server.Start(ctx, server.Options{DataDir: t.TempDir(), Job: controller.Options{Registerer: registry}})
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := running.Wait(); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	handler := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return newColumn(t, onServer, running.RESTConfig(), nil), func() map[string]float64 {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return readSeries(t, answer.Body)
	}
}

// readSeries reads the Job controller's series, each by its name and labels as they stand there. Of histograms it takes
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
