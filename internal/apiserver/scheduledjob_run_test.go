package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/test/wrappers"
)

func scheduledJob(name string) *stintv1.ScheduledJob {
	return wrappers.MakeScheduledJob(name).Namespace("default").Containers("main").Command("true").Obj()
}

// postRun requests a run by its URL, as curl would.
func (r *running) postRun(t testing.TB, name, query, body string) (*stintv1.ScheduledJobRun, error) {
	t.Helper()
	run := &stintv1.ScheduledJobRun{}
	request := r.clientset(t).RESTClient().Post().
		AbsPath("/apis/stint.dev/v1/namespaces/default/scheduledjobs/"+name+"/run").
		SetHeader("Content-Type", "application/json").Body([]byte(body))
	for pair := range strings.SplitSeq(query, "&") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			request = request.Param(key, value)
		}
	}
	code := 0
	result := request.Do(t.Context()).StatusCode(&code)
	if err := result.Error(); err != nil {
		return nil, err
	}
	raw := must[[]byte](t)(result.Raw())
	if code != http.StatusCreated {
		t.Errorf("code %d, want %d", code, http.StatusCreated)
	}
	return run, json.Unmarshal(raw, run)
}

func (r *running) pending(t testing.TB, name string) []stintv1.Execution {
	t.Helper()
	return must[*stintv1.ScheduledJob](t)(r.Client().ScheduledJobs().Get(t.Context(), "default", name)).Status.PendingExecutions
}

func TestARunOnDemandIsPutAmongThePendingOnes(t *testing.T) {
	r := start(t)
	must[*stintv1.ScheduledJob](t)(r.Client().ScheduledJobs().Create(t.Context(), scheduledJob("a")))
	named := must[*stintv1.ScheduledJobRun](t)(r.postRun(t, "a", "", `{"tag":"first","overrides":{"args":["x"]}}`))
	generated := must[*stintv1.ScheduledJobRun](t)(r.postRun(t, "a", "", `{"kind":"ScheduledJobRun","apiVersion":"stint.dev/v1"}`))
	again := must[*stintv1.ScheduledJobRun](t)(r.postRun(t, "a", "", `{"tag":"first","overrides":{"args":["x"]}}`))
	if named.Tag != "first" || again.Tag != "first" || !strings.HasPrefix(generated.Tag, "manual-") || named.Kind != "ScheduledJobRun" {
		t.Errorf("answers %+v, %+v, %+v", named, generated, again)
	}
	pending := r.pending(t, "a")
	if len(pending) != 2 {
		t.Fatalf("%d are pending, want 2: %v", len(pending), pending)
	}
	e := pending[0]
	if e.Tag != "first" || e.Trigger != stintv1.TriggerManual || e.Status != stintv1.ExecutionPending || e.CreatedAt == nil ||
		!slices.Equal(e.Overrides.Args, []string{"x"}) || pending[1].Tag != generated.Tag {
		t.Errorf("pending %+v", pending)
	}
}

func TestAPostWithoutABodyIsARun(t *testing.T) {
	r := start(t)
	must[*stintv1.ScheduledJob](t)(r.Client().ScheduledJobs().Create(t.Context(), scheduledJob("a")))
	for sentence, contentType := range map[string]string{
		"as curl -X POST sends it":        "",
		"as curl -d '' sends it":          "application/x-www-form-urlencoded",
		"as those do who know the format": "application/yaml",
	} {
		t.Run(sentence, func(t *testing.T) {
			request := r.clientset(t).RESTClient().Post().AbsPath("/apis/stint.dev/v1/namespaces/default/scheduledjobs/a/run")
			if contentType != "" {
				request.SetHeader("Content-Type", contentType)
			}
			raw := must[[]byte](t)(request.DoRaw(t.Context()))
			run := &stintv1.ScheduledJobRun{}
			if err := json.Unmarshal(raw, run); err != nil || !strings.HasPrefix(run.Tag, "manual-") {
				t.Errorf("got %s (%v)", raw, err)
			}
		})
	}
	if pending := r.pending(t, "a"); len(pending) != 3 {
		t.Errorf("%d are pending, want 3", len(pending))
	}
	if err := r.clientset(t).RESTClient().Post().AbsPath("/api/v1/namespaces/default/configmaps").Do(t.Context()).Error(); err == nil {
		t.Error("nothing is a ConfigMap")
	}
}

func TestADryRunOfARunRunsNothing(t *testing.T) {
	r := start(t)
	must[*stintv1.ScheduledJob](t)(r.Client().ScheduledJobs().Create(t.Context(), scheduledJob("a")))
	run := must[*stintv1.ScheduledJobRun](t)(r.postRun(t, "a", "dryRun=All", `{"tag":"first"}`))
	if run.Tag != "first" || len(r.pending(t, "a")) != 0 {
		t.Errorf("answer %+v, pending %v", run, r.pending(t, "a"))
	}
}

func TestRunsOnDemandAreRefusedWithAReason(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	sjs := r.Client().ScheduledJobs()
	a := must[*stintv1.ScheduledJob](t)(sjs.Create(ctx, scheduledJob("a")))
	full := must[*stintv1.ScheduledJob](t)(sjs.Create(ctx, scheduledJob("full"))).DeepCopy()
	for i := range 100 {
		full.Status.PendingExecutions = append(full.Status.PendingExecutions, stintv1.Execution{Tag: fmt.Sprintf("r%d", i)})
	}
	must[*stintv1.ScheduledJob](t)(sjs.UpdateStatus(ctx, full))
	going := scheduledJob("going")
	going.Finalizers = []string{"example.com/hold"}
	going = must[*stintv1.ScheduledJob](t)(sjs.Create(ctx, going))
	must[struct{}](t)(struct{}{}, deleteBackground(ctx, r, going))
	done := a.DeepCopy()
	done.Status.CompletedExecutions = []stintv1.Execution{{Tag: "done"}}
	must[*stintv1.ScheduledJob](t)(sjs.UpdateStatus(ctx, done))

	for sentence, c := range map[string]struct {
		name, query, body string
		is                func(error) bool
		says              string
	}{
		"a ScheduledJob that is not there":   {"b", "", `{}`, apierrors.IsNotFound, `"b" not found`},
		"a tag that is none":                 {"a", "", `{"tag":"Now!"}`, apierrors.IsInvalid, "tag: Invalid"},
		"the tag of a scheduled run":         {"a", "", `{"tag":"20260301-120000"}`, apierrors.IsInvalid, "begin with a letter"},
		"a tag that has run otherwise":       {"a", "", `{"tag":"done","overrides":{"args":["x"]}}`, apierrors.IsAlreadyExists, "another run done, with other overrides: choose another tag"},
		"a container that is not there":      {"a", "", `{"overrides":{"container":"other"}}`, apierrors.IsInvalid, "the template has main"},
		"the name of another":                {"a", "", `{"metadata":{"name":"b"}}`, apierrors.IsBadRequest, "must be the name of the ScheduledJob"},
		"an unknown field":                   {"a", "fieldValidation=Strict", `{"tga":"x"}`, apierrors.IsBadRequest, "tga"},
		"another kind":                       {"a", "", `{"kind":"ScheduledJob","apiVersion":"stint.dev/v1"}`, apierrors.IsBadRequest, "ScheduledJob"},
		"what is no JSON":                    {"a", "", `run!`, apierrors.IsBadRequest, ""},
		"more than 100 that wait":            {"full", "", `{}`, apierrors.IsForbidden, "ask again when some have started"},
		"a ScheduledJob that is on its way":  {"going", "", `{}`, apierrors.IsConflict, "being deleted"},
		"a dry run of more than may wait":    {"full", "dryRun=All", `{}`, apierrors.IsForbidden, "100"},
		"an override of a variable twice":    {"a", "", `{"overrides":{"env":[{"name":"A"},{"name":"A"}]}}`, apierrors.IsInvalid, "overrides.env[1]"},
		"a namespace that the URL is not in": {"a", "", `{"metadata":{"namespace":"other"}}`, apierrors.IsBadRequest, "namespace"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if _, err := r.postRun(t, c.name, c.query, c.body); err == nil || !c.is(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
	if same, err := r.postRun(t, "full", "", `{"tag":"r7"}`); err != nil || same.Tag != "r7" {
		t.Errorf("one that waits already: %v, %v", same, err)
	}
}

// When a run starts, its status drops large overrides.
func TestALargeRunThatHasStartedIsKnownAgain(t *testing.T) {
	r := start(t)
	sj := must[*stintv1.ScheduledJob](t)(r.Client().ScheduledJobs().Create(t.Context(), scheduledJob("a"))).DeepCopy()
	sj.Status.RunningExecutions = []stintv1.Execution{{Tag: "large", Status: stintv1.ExecutionRunning}}
	must[*stintv1.ScheduledJob](t)(r.Client().ScheduledJobs().UpdateStatus(t.Context(), sj))
	body := func(length int) string {
		return fmt.Sprintf(`{"tag":"large","overrides":{"args":[%q]}}`, strings.Repeat("a", length))
	}
	must[*stintv1.ScheduledJobRun](t)(r.postRun(t, "a", "", body(2000)))
	if _, err := r.postRun(t, "a", "", body(20)); !apierrors.IsAlreadyExists(err) {
		t.Errorf("with small overrides, which it would have kept: %v, want AlreadyExists", err)
	}
}

// With concurrent requests no run is lost, and none starts twice.
func TestRunsThatAreAskedForAtOnceAllCome(t *testing.T) {
	r := start(t)
	must[*stintv1.ScheduledJob](t)(r.Client().ScheduledJobs().Create(t.Context(), scheduledJob("a")))
	var all sync.WaitGroup
	for i := range 20 {
		for range 2 {
			all.Go(func() {
				if _, err := r.postRun(t, "a", "", fmt.Sprintf(`{"tag":"r%d"}`, i)); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	tags := map[string]bool{}
	for _, e := range r.pending(t, "a") {
		tags[e.Tag] = true
	}
	if n := len(r.pending(t, "a")); n != 20 || len(tags) != 20 {
		t.Errorf("%d runs with %d tags are pending, want 20", n, len(tags))
	}
}

func TestARunIsCheckedAgainstThePodTemplateThatItWillHave(t *testing.T) {
	r := start(t)
	sj := scheduledJob("a")
	sj.Spec.TemplateRef, sj.Spec.Template = &corev1.LocalObjectReference{Name: "shared"}, nil
	must[*stintv1.ScheduledJob](t)(r.Client().ScheduledJobs().Create(t.Context(), sj))
	must[*stintv1.ScheduledJobRun](t)(r.postRun(t, "a", "", `{"overrides":{"container":"other"}}`))
	shared := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Name: "shared"}, Template: *scheduledJob("x").Spec.Template}
	must[*corev1.PodTemplate](t)(r.clientset(t).CoreV1().PodTemplates("default").Create(t.Context(), shared, metav1.CreateOptions{}))
	if _, err := r.postRun(t, "a", "", `{"overrides":{"container":"other"}}`); !apierrors.IsInvalid(err) {
		t.Errorf("a container that the PodTemplate has not: %v, want Invalid", err)
	}
}

func TestTheRunIsInDiscoveryAndInTheOpenAPI(t *testing.T) {
	r := start(t)
	resources := must[*metav1.APIResourceList](t)(r.clientset(t).Discovery().ServerResourcesForGroupVersion("stint.dev/v1"))
	found := map[string]metav1.APIResource{}
	for _, resource := range resources.APIResources {
		found[resource.Name] = resource
	}
	run := found["scheduledjobs/run"]
	if run.Kind != "ScheduledJobRun" || !slices.Equal(run.Verbs, metav1.Verbs{"create"}) || !run.Namespaced {
		t.Errorf("discovery says %+v", run)
	}
	if found["scheduledjobs/status"].Kind != "ScheduledJob" {
		t.Errorf("discovery says %+v", found)
	}
	text := string(must[[]byte](t)(r.clientset(t).RESTClient().Get().AbsPath("/openapi/v3/apis/stint.dev/v1").Do(t.Context()).Raw()))
	for _, want := range []string{`"dev.stint.v1.ScheduledJobRun"`, `scheduledjobs/{name}/run"`, `"dev.stint.v1.ScheduledJobSpec"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the OpenAPI document does not hold %s", want)
		}
	}
	if strings.Contains(text, "com.github") {
		t.Error("the OpenAPI document names Go packages")
	}
}
