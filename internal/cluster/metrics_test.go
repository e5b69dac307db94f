package cluster_test

import (
	"crypto/tls"
	"io"
	"maps"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	jobcontroller "github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/kube"
)

// TestClusterMetricsAreThoseOfKubeControllerManager runs the same Jobs with both controllers and compares their metrics.
func TestClusterMetricsAreThoseOfKubeControllerManager(t *testing.T) {
	c := kube.Shared(t)
	n := newNode(t, c)
	held, err := c.HoldPort()
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(held)
	manager, err := c.StartControllerManager("job-controller", "--bind-address=127.0.0.1",
		"--secure-port="+port, "--authorization-always-allow-paths=/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Kill()
	s := controller(t, c, "", "--leader-elect=false")
	s.awaitReady(t)
	n.create(t, newJob("foreign", "example.com/other"))
	for name, change := range countedJobs() {
		n.create(t, newJob("theirs-"+name, "", change))
		n.create(t, newJob("ours-"+name, jobcontroller.ManagedBy, change))
	}
	for name := range countedJobs() {
		n.awaitEnd(t, "theirs-"+name)
		n.awaitEnd(t, "ours-"+name)
	}
	scraper := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer scraper.CloseIdleConnections()
	diff := "nothing yet"
	// Some series change a moment after the last status.
	await.Until(t, "Stint (+) to have counted what kube-controller-manager (-) has", func() bool {
		answer, err := scraper.Get("https://127.0.0.1:" + port + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		theirs, ours := jobSeries(parse(string(text))), jobSeries(s.metrics())
		diff = cmp.Diff(theirs, ours)
		return len(theirs) > 18 && diff == ""
	}, func() string { return diff })
}

// jobSeries selects the series that can be compared. It leaves out those about syncs, and about Jobs of the other controller, which
// have no counterpart, as well as series that are 0, which only one of the two may show. How many terminated pods still had the
// finalizer depends on what the informer shows: after a list it may never show some pods in that state.
func jobSeries(series map[string]float64) map[string]float64 {
	maps.DeleteFunc(series, func(name string, value float64) bool {
		return value == 0 || !strings.HasPrefix(name, "job_controller_") || strings.Contains(name, "sync") ||
			strings.HasPrefix(name, "job_controller_terminated_pods_tracking_finalizer_total") ||
			strings.Contains(name, `controller_name="`+jobcontroller.ManagedBy)
	})
	return series
}

// countedJobs are Jobs that finish in different ways.
func countedJobs() map[string]func(*batchv1.JobSpec) {
	indexed := func(s *batchv1.JobSpec) {
		s.CompletionMode = ptr.To(batchv1.IndexedCompletion)
		size(4, 4)(s)
	}
	on42 := func(action batchv1.PodFailurePolicyAction) *batchv1.PodFailurePolicy {
		return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: action,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42}},
		}}}
	}
	return map[string]func(*batchv1.JobSpec){
		"whole":   size(7, 3),
		"fails":   failing,
		"indexed": indexed,
		"retries": func(s *batchv1.JobSpec) {
			failing(s)
			s.BackoffLimit = ptr.To[int32](1)
		},
		"replaces-failed": func(s *batchv1.JobSpec) {
			failing(s)
			s.BackoffLimit = ptr.To[int32](1)
			s.PodReplacementPolicy = ptr.To(batchv1.Failed)
		},
		"per-index": func(s *batchv1.JobSpec) {
			indexed(s)
			failing(s)
			s.BackoffLimit, s.BackoffLimitPerIndex = nil, ptr.To[int32](0)
		},
		"fail-job": func(s *batchv1.JobSpec) {
			failing(s)
			s.PodFailurePolicy = on42(batchv1.PodFailurePolicyActionFailJob)
		},
		"count": func(s *batchv1.JobSpec) {
			failing(s)
			s.PodFailurePolicy = on42(batchv1.PodFailurePolicyActionCount)
		},
		"fail-index": func(s *batchv1.JobSpec) {
			indexed(s)
			failing(s)
			s.BackoffLimit, s.BackoffLimitPerIndex = nil, ptr.To[int32](1)
			s.PodFailurePolicy = on42(batchv1.PodFailurePolicyActionFailIndex)
		},
		"success-policy": func(s *batchv1.JobSpec) {
			indexed(s)
			s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: ptr.To[int32](4)}}}
		},
	}
}

func TestClusterMetricsOfTheProcess(t *testing.T) {
	c := kube.Shared(t)
	n := newNode(t, c)
	s := controller(t, c, "", steadyLease("metrics")...)
	s.awaitReady(t)
	n.create(t, newJob("one", jobcontroller.ManagedBy))
	n.awaitEnd(t, "one")
	for series, more := range map[string]bool{
		`leader_election_master_status{name="metrics"}`:                                                                       false,
		`job_controller_job_syncs_total{action="pods_created",completion_mode="NonIndexed",result="success"}`:                 false,
		`job_controller_job_sync_duration_seconds_count{action="pods_created",completion_mode="NonIndexed",result="success"}`: false,
		`stint_build_info{go_version="` + runtime.Version() + `",version="dev"}`:                                              false,
		`workqueue_adds_total{name="job"}`:                                                                                    true,
		`rest_client_requests_total{code="201",host="` + c.Config().Host + `",method="POST"}`:                                 true,
		"go_goroutines":             true,
		"process_cpu_seconds_total": true,
	} {
		if got := s.metrics()[series]; got != 1 && (!more || got <= 0) {
			t.Errorf("%s is %v", series, got)
		}
	}
}

func (s *stint) metrics() map[string]float64 {
	_, body := s.get("/metrics")
	return parse(body)
}

// parse returns the values of all series by name and labels.
func parse(text string) map[string]float64 {
	values := map[string]float64{}
	for line := range strings.Lines(text) {
		end := strings.LastIndex(line, " ")
		if value, err := strconv.ParseFloat(strings.TrimSpace(line[end+1:]), 64); err == nil && end > 0 {
			values[line[:end]] = value
		}
	}
	return values
}
