package run

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/target"
)

func TestResolveExisting(t *testing.T) {
	finished := batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}}
	failing := batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue}}}
	hash := map[string]string{hashAnnotation: "abc"}
	for sentence, tc := range map[string]struct {
		job   batchv1.Job
		want  output.How
		wrong string
	}{
		"a finished one is replaced": {
			batchv1.Job{Status: finished}, output.Replaced, ""},
		"a finished one from the same manifest is replaced too": {
			batchv1.Job{ObjectMeta: metav1.ObjectMeta{Annotations: hash}, Status: finished}, output.Replaced, ""},
		"one that runs from the same manifest is followed": {
			batchv1.Job{ObjectMeta: metav1.ObjectMeta{Annotations: hash}}, output.Followed, ""},
		"one that is about to fail still runs": {
			batchv1.Job{ObjectMeta: metav1.ObjectMeta{Annotations: hash}, Status: failing}, output.Followed, ""},
		"one that runs from another manifest is in the way": {
			batchv1.Job{}, "", "has not finished yet"},
		"one that is being deleted makes room": {
			batchv1.Job{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: ptr.To(metav1.Now())}}, output.Created, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := resolveExisting(&tc.job, "abc")
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if tc.wrong == "" && err != nil || tc.wrong != "" && (err == nil || !strings.Contains(err.Error(), tc.wrong)) {
				t.Errorf("error %v, want %q", err, tc.wrong)
			}
		})
	}
}

func TestMeter(t *testing.T) {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	var m rateMeter
	if m.rate() != 0 || m.remaining(5) != 0 {
		t.Error("a rate out of nothing")
	}
	for i := range 21 {
		m.add(start.Add(time.Duration(i)*500*time.Millisecond), int32(i))
	}
	if diff := cmp.Diff(2.0, m.rate()); diff != "" {
		t.Errorf("steady rate: %s", diff)
	}
	if diff := cmp.Diff(10*time.Second, m.remaining(20)); diff != "" {
		t.Errorf("time left: %s", diff)
	}
	m.add(start.Add(time.Hour), 20)
	m.add(start.Add(2*time.Hour), 20)
	if m.rate() != 0 {
		t.Errorf("rate %v an hour after the last success", m.rate())
	}
}

func TestMeterNeverRunsBackwards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m rateMeter
		at, succeeded := time.Unix(0, 0), int32(0)
		for _, step := range rapid.SliceOf(rapid.IntRange(0, 20_000)).Draw(t, "steps") {
			at = at.Add(time.Duration(step) * time.Millisecond)
			succeeded += int32(step % 7)
			m.add(at, succeeded)
			if m.rate() < 0 || m.remaining(10) < 0 {
				t.Fatalf("rate %v, left %v", m.rate(), m.remaining(10))
			}
			if len(m.samples) > 2+int(meterWindow/time.Second)*2 {
				t.Fatalf("%d samples kept", len(m.samples))
			}
		}
	})
}

func TestPodSelectors(t *testing.T) {
	jobs := func(n int) []*batchv1.Job {
		var out []*batchv1.Job
		for i := range n {
			out = append(out, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: types.UID(fmt.Sprintf("uid-%02d", i))}})
		}
		return out
	}
	own := &batchv1.Job{Spec: batchv1.JobSpec{ManualSelector: ptr.To(true),
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}}}
	for sentence, tc := range map[string]struct {
		jobs []*batchv1.Job
		want []string
	}{
		"few jobs are listed":                  {jobs(2), []string{"batch.kubernetes.io/controller-uid in (uid-00,uid-01)"}},
		"many share one":                       {jobs(51), []string{"batch.kubernetes.io/controller-uid"}},
		"a selector of one's own stands alone": {append(jobs(1), own), []string{"app=x", "batch.kubernetes.io/controller-uid in (uid-00)"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, podSelectors(tc.jobs)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSinglePod(t *testing.T) {
	job := func(parallelism, completions *int32) *manifest.Object {
		return &manifest.Object{Typed: &batchv1.Job{Spec: batchv1.JobSpec{Parallelism: parallelism, Completions: completions}}}
	}
	config := &manifest.Object{Typed: &corev1.ConfigMap{}}
	for sentence, tc := range map[string]struct {
		objects []*manifest.Object
		want    bool
	}{
		"a Job that says nothing":     {[]*manifest.Object{job(nil, nil)}, true},
		"with what it needs":          {[]*manifest.Object{config, job(ptr.To[int32](1), ptr.To[int32](1))}, true},
		"two Jobs":                    {[]*manifest.Object{job(nil, nil), job(nil, nil)}, false},
		"several completions":         {[]*manifest.Object{job(ptr.To[int32](1), ptr.To[int32](2))}, false},
		"a work queue of two at once": {[]*manifest.Object{job(ptr.To[int32](2), nil)}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := singlePod(jobsOf(tc.objects)); got != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestRunnable(t *testing.T) {
	object := func(kind string) *manifest.Object {
		o := &manifest.Object{Typed: &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "nightly"}}}
		o.File, o.GVK.Kind = "f", kind
		return o
	}
	for sentence, tc := range map[string]struct {
		kinds []string
		want  string
	}{
		"a Job with a ConfigMap": {[]string{"ConfigMap", "Job"}, ""},
		"a ConfigMap alone":      {[]string{"ConfigMap"}, "f: no Job to run: add a Job, or create the objects with stint apply -f f"},
		"a CronJob": {[]string{"Job", "CronJob"}, "f: kind: a CronJob never finishes: start stint server, " +
			"then stint apply -f f; to run it now: stint trigger cronjob/nightly --wait"},
		"a ScheduledJob": {[]string{"ScheduledJob"}, "f: kind: a ScheduledJob never finishes: start stint server, " +
			"then stint apply -f f; to run it now: stint trigger scheduledjob/nightly --wait"},
	} {
		t.Run(sentence, func(t *testing.T) {
			var objects []*manifest.Object
			for _, kind := range tc.kinds {
				objects = append(objects, object(kind))
			}
			got := ""
			if err := runnable(objects, target.Caller{}); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
