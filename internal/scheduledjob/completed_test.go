package scheduledjob

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

func keeping(successful, failed, completed int32) change {
	return func(sj *stintv1.ScheduledJob) {
		sj.Spec.SuccessfulJobsHistoryLimit, sj.Spec.FailedJobsHistoryLimit = &successful, &failed
		sj.Spec.CompletedExecutionsHistoryLimit = &completed
	}
}

func TestHistory(t *testing.T) {
	tests := map[string]func(t *testing.T){
		"the newest Jobs stay, of good runs and of failed ones": func(t *testing.T) {
			newScene(t, aScheduledJob(keeping(2, 1, 20), requested("a"), requested("b"), requested("c"), requested("d"), requested("e"))).
				step(0, "create a b c d e | running a b c d e | count 5").
				end("a", completeAt(9)).end("b", completeAt(3)).end("c", completeAt(5)).end("d", failedAt(6)).end("e", failedAt(4)).
				step(10, "delete b e | completed b:ok e:FailedIndexes c:ok d:FailedIndexes a:ok | count 5")
		},
		"a Job that is being deleted is neither deleted again nor kept": func(t *testing.T) {
			newScene(t, aScheduledJob(keeping(1, 1, 20), requested("a"), requested("b"))).
				step(0, "create a b | running a b | count 2").
				end("a", completeAt(1)).end("b", completeAt(2)).
				end("b", func(job *batchv1.Job) { job.DeletionTimestamp = &metav1.Time{Time: at(3)} }).
				step(4, "completed a:ok b:ok | count 2")
		},
		"the list keeps the newest, also if the Jobs are gone": func(t *testing.T) {
			newScene(t, aScheduledJob(keeping(3, 3, 2), requested("a"), requested("b"), requested("c"))).
				step(0, "create a b c | running a b c | count 3").
				end("a", completeAt(1)).end("b", failedAt(2)).end("c", completeAt(3)).
				step(4, "completed b:FailedIndexes c:ok | count 3").
				step(5, "completed b:FailedIndexes c:ok | count 3").
				gone("b").gone("c").
				step(6, "completed b:FailedIndexes c:ok | count 3")
		},
		"lower limits take effect at once": func(t *testing.T) {
			newScene(t, aScheduledJob(requested("a"), requested("b"))).
				step(0, "create a b | running a b | count 2").
				end("a", completeAt(1)).end("b", completeAt(2)).
				step(3, "completed a:ok b:ok | count 2").
				newSpec(keeping(1, 0, 1)).
				step(4, "delete a | completed b:ok | count 2")
		},
		"a Job that was forgotten is not taken for a new run": func(t *testing.T) {
			newScene(t, every(60, keeping(3, 1, 0))).
				step(0, "create +0 | running +0 | count 1 | last +0 | next +60").
				end(tagAt(0), completeAt(1)).
				step(2, "count 1 | last +0 | next +60").
				step(3, "count 1 | last +0 | next +60")
		},
		"a Job that runs and is in no list was removed by a user while it was being created": func(t *testing.T) {
			newScene(t, aScheduledJob(oneAtATime, requested("a"))).lose(0).
				edit(func(sj *stintv1.ScheduledJob) { sj.Status.PendingExecutions = nil }).edit(requested("b")).
				step(1, "pending b:Queued | running a | count 1")
		},
		"a Job that was created again is followed": func(t *testing.T) {
			s := newScene(t, aScheduledJob(requested("a"))).step(0, "create a | running a | count 1").
				end("a", func(job *batchv1.Job) { job.UID = "another" }).
				step(1, "running a | count 1")
			if uid := s.sj.Status.RunningExecutions[0].JobUID; uid != "another" {
				t.Errorf("follows %s", uid)
			}
		},
	}
	for name, test := range tests {
		t.Run(name, test)
	}
}

func TestEndWithoutATime(t *testing.T) {
	s := newScene(t, aScheduledJob(requested("a"))).step(0, "create a | running a | count 1").
		end("a", completeAt(1)).end("a", func(job *batchv1.Job) { job.Status.Conditions[0].LastTransitionTime = metav1.Time{} }).
		step(7, "completed a:ok | count 1")
	if end := s.sj.Status.CompletedExecutions[0].CompletedAt; !end.Time.Equal(at(7)) {
		t.Errorf("ended at %s", end)
	}
}

func TestLastSuccessfulTime(t *testing.T) {
	s := newScene(t, aScheduledJob(requested("a"), requested("b"), requested("c"))).
		step(0, "create a b c | running a b c | count 3").
		end("a", completeAt(9)).end("c", failedAt(12)).
		step(12, "running b | completed a:ok c:FailedIndexes | count 3").
		end("b", completeAt(4)).
		step(13, "completed a:ok c:FailedIndexes b:ok | count 3")
	if last := s.sj.Status.LastSuccessfulTime; !last.Time.Equal(at(9)) {
		t.Errorf("is %s", last)
	}
}

// TestSize fills a status with the largest possible entries: what is left of it must fit into an object.
func TestSize(t *testing.T) {
	sj := aScheduledJob(keeping(0, 0, 1000))
	s := newScene(t, sj)
	long := strings.Repeat("x", 10_000)
	for i := range 1000 {
		e := stintv1.Execution{Tag: tagAt(i), Success: ptr.To(false), Message: strings.Repeat("ü", 600), CompletedAt: metaTime(at(i)),
			Overrides: &stintv1.Overrides{Env: []corev1.EnvVar{{Name: "A", Value: long}}, Args: []string{long}}}
		sj.Status.CompletedExecutions = append(sj.Status.CompletedExecutions, e)
	}
	s.decide(2000)
	left := s.d.Status(nil).CompletedExecutions
	data, err := json.Marshal(left)
	if err != nil || len(data) > 1<<20 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if n := len(left); n == 0 || n > 30 || left[n-1].Tag != tagAt(999) {
		t.Errorf("%d are left", n)
	}
}

func TestOverridesInStatus(t *testing.T) {
	small := &stintv1.Overrides{Args: []string{"--day=monday"}}
	large := &stintv1.Overrides{Env: []corev1.EnvVar{{Name: "A", Value: strings.Repeat("x", 2000)}}}
	wrong := &stintv1.Overrides{Container: "missing", Args: large.DeepCopy().Args, Env: large.Env}
	s := newScene(t, aScheduledJob(entry(stintv1.Execution{Tag: "a", Overrides: small}), entry(stintv1.Execution{Tag: "b", Overrides: large}),
		entry(stintv1.Execution{Tag: "c", Overrides: wrong}))).
		step(0, "create a b | running a b | completed c:InvalidOverrides | count 2").
		end("a", completeAt(1)).
		step(2, "running b | completed c:InvalidOverrides a:ok | count 2")
	if args := s.jobs[0].Spec.Template.Spec.Containers[0].Args; len(args) != 1 {
		t.Errorf("args are %v", args)
	}
	if env := s.jobs[1].Spec.Template.Spec.Containers[0].Env; env[len(env)-1].Value != large.Env[0].Value {
		t.Errorf("env is %v", env)
	}
	c, a, b := s.sj.Status.CompletedExecutions[0], s.sj.Status.CompletedExecutions[1], s.sj.Status.RunningExecutions[0]
	if a.Overrides == nil || b.Overrides != nil || c.Overrides != nil {
		t.Errorf("keeps %v %v %v", a.Overrides, b.Overrides, c.Overrides)
	}
}

func TestShortened(t *testing.T) {
	for _, message := range []string{strings.Repeat("x", 5000), strings.Repeat("ü", 2000), "x" + strings.Repeat("ü", 2000)} {
		if s := shortened(message); len(s) > maxMessage+4 || len(s) < maxMessage || !utf8.ValidString(s) {
			t.Errorf("is %d long: %q", len(s), s[len(s)-8:])
		}
	}
	if s := shortened("short"); s != "short" {
		t.Errorf("is %q", s)
	}
}
