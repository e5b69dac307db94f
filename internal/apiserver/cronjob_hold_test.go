package apiserver_test

import (
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cronjob"
	jobcore "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/wrappers"
)

// onDemand returns the Job that kubectl create job --from=cronjob/NAME creates.
func onDemand(name string, cj *batchv1.CronJob) *batchv1.Job {
	j := job(name)
	j.Annotations = map[string]string{"cronjob.kubernetes.io/instantiate": "manual"}
	j.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(cj, cronjob.Kind)}
	return j
}

func cronJob(name string, policy batchv1.ConcurrencyPolicy) *batchv1.CronJob {
	return wrappers.MakeCronJob(name, "0 0 1 1 *").Namespace("default").ConcurrencyPolicy(policy).Command("true").Obj()
}

func isHeld(j *batchv1.Job) bool {
	return ptr.Deref(j.Spec.Suspend, false) && j.Annotations[jobcore.HeldAnnotation] != ""
}

func TestRunsOnDemandThatMustWaitAreHeldFromTheStart(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	cronJobs, jobs := r.Client().CronJobs(), r.Client().Jobs()
	forbid := must[*batchv1.CronJob](t)(cronJobs.Create(ctx, cronJob("forbid", batchv1.ForbidConcurrent)))
	allow := must[*batchv1.CronJob](t)(cronJobs.Create(ctx, cronJob("allow", batchv1.AllowConcurrent)))
	create := func(j *batchv1.Job) *batchv1.Job { return must[*batchv1.Job](t)(jobs.Create(ctx, j)) }
	for _, test := range []struct {
		why  string
		job  *batchv1.Job
		held bool
	}{
		{"the first run starts", onDemand("a", forbid), false},
		{"the second waits", onDemand("b", forbid), true},
		{"one after a held one waits too", onDemand("c", forbid), true},
		{"a Job of no CronJob starts", job("d"), false},
		{"a policy of Allow lets a run start", onDemand("e", allow), false},
		{"and another", onDemand("f", allow), false},
		{"a Job that says by itself that it is suspended is left alone", func() *batchv1.Job {
			j := onDemand("g", forbid)
			j.Spec.Suspend = ptr.To(true)
			return j
		}(), false},
	} {
		if j := create(test.job); isHeld(j) != test.held {
			t.Errorf("%s: suspend %v, annotations %v", test.why, ptr.Deref(j.Spec.Suspend, false), j.Annotations)
		}
	}
}

func TestCreatingAHeldRunBringsAWarning(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	forbid := must[*batchv1.CronJob](t)(r.Client().CronJobs().Create(ctx, cronJob("forbid", batchv1.ForbidConcurrent)))
	must[*batchv1.Job](t)(r.Client().Jobs().Create(ctx, onDemand("first", forbid)))
	heard := &warnings{}
	config := rest.CopyConfig(r.http)
	config.WarningHandler = heard
	api := must[*kubernetes.Clientset](t)(kubernetes.NewForConfig(config))
	for _, options := range []metav1.CreateOptions{{DryRun: []string{metav1.DryRunAll}}, {}} {
		heard.texts = nil
		j := must[*batchv1.Job](t)(api.BatchV1().Jobs("default").Create(ctx, onDemand("second", forbid), options))
		if !isHeld(j) {
			t.Errorf("options %v: the run is not held", options)
		}
		if text := strings.Join(heard.texts, "\n"); !strings.Contains(text, "until Job first has ended") || !strings.Contains(text, "CronJob forbid") {
			t.Errorf("options %v: the warning is %q", options, text)
		}
	}
}

func TestARunThatIsNotCreatedBringsNoWarning(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	forbid := must[*batchv1.CronJob](t)(r.Client().CronJobs().Create(ctx, cronJob("forbid", batchv1.ForbidConcurrent)))
	must[*batchv1.Job](t)(r.Client().Jobs().Create(ctx, onDemand("first", forbid)))
	heard := &warnings{}
	config := rest.CopyConfig(r.http)
	config.WarningHandler = heard
	api := must[*kubernetes.Clientset](t)(kubernetes.NewForConfig(config))
	_, err := api.BatchV1().Jobs("default").Create(ctx, onDemand("first", forbid), metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) || len(heard.texts) > 0 {
		t.Errorf("error %v, warnings %q", err, heard.texts)
	}
}

type warnings struct{ texts []string }

func (w *warnings) HandleWarningHeader(_ int, _, text string) { w.texts = append(w.texts, text) }

func TestOfRunsThatAreCreatedAtOnceOneStarts(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	forbid := must[*batchv1.CronJob](t)(r.Client().CronJobs().Create(ctx, cronJob("forbid", batchv1.ForbidConcurrent)))
	made := make([]*batchv1.Job, 20)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			j, err := r.Client().Jobs().Create(ctx, onDemand("run-"+string(rune('a'+i)), forbid))
			if err != nil {
				t.Error(err)
				return
			}
			made[i] = j
		})
	}
	all.Wait()
	start := 0
	for _, j := range made {
		if j != nil && !isHeld(j) {
			start++
		}
	}
	if start != 1 {
		t.Errorf("%d runs start, want 1", start)
	}
}
