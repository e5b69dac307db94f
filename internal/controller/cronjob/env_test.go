package cronjob_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/cronjob"
	core "github.com/stint-dev/stint/internal/cronjob"
	"github.com/stint-dev/stint/internal/events"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

func TestMain(m *testing.M) { apiservertest.Main(m) }

// env is a namespace with a CronJob controller and no Job controller: tests finish the Jobs themselves.
type env struct {
	t      testing.TB
	server *apiservertest.Server
	client client.Interface
	api    kubernetes.Interface
	events *events.Writer
	// stop stops the controller.
	stop func()
}

func start(t testing.TB, o cronjob.Options) *env {
	t.Helper()
	e := prepare(t)
	e.run(o)
	return e
}

// prepare returns an env whose controller does not run yet.
func prepare(t testing.TB) *env {
	t.Helper()
	server := apiservertest.Shared(t)
	e := &env{t: t, server: server, client: server.Client(), api: server.Clientset()}
	e.events = events.NewWriter(e.client.Events(), events.Scheme)
	t.Cleanup(e.events.Close)
	return e
}

// run starts a controller, which runs until stop is called or the test ends.
func (e *env) run(o cronjob.Options) {
	e.t.Helper()
	e.stop = e.server.Control(cronjob.New(e.client, e.events.Recorder("cronjob-controller"), o))
}

// newCronJob runs "true"; changes make it another.
func newCronJob(name, schedule string, changes ...func(*batchv1.CronJobSpec)) *batchv1.CronJob {
	cj := wrappers.MakeCronJob(name, schedule).Command("true").Obj()
	for _, change := range changes {
		change(&cj.Spec)
	}
	return cj
}

func policy(p batchv1.ConcurrencyPolicy) func(*batchv1.CronJobSpec) {
	return func(s *batchv1.CronJobSpec) { s.ConcurrencyPolicy = p }
}

// never is a schedule that is not due while a test runs.
const never = "0 0 29 2 *"

func (e *env) create(cj *batchv1.CronJob) *batchv1.CronJob {
	e.t.Helper()
	cj.Namespace = e.server.Namespace
	made, err := e.client.CronJobs().Create(context.Background(), cj)
	if err != nil {
		e.t.Fatal(err)
	}
	return made
}

// edit changes the spec as a person does.
func (e *env) edit(name string, change func(*batchv1.CronJobSpec)) *batchv1.CronJob {
	e.t.Helper()
	cj, err := e.client.CronJobs().Get(context.Background(), e.server.Namespace, name)
	if err == nil {
		cj, err = e.client.CronJobs().Modify(context.Background(), cj, func(cj *batchv1.CronJob) { change(&cj.Spec) })
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return cj
}

// createManualRun creates a run on demand, as kubectl create job --from does.
func (e *env) createManualRun(cj *batchv1.CronJob, name string) {
	e.t.Helper()
	job := wrappers.MakeJob(name).Namespace(cj.Namespace).Annotation("cronjob.kubernetes.io/instantiate", "manual").
		OwnerReferences(*metav1.NewControllerRef(cj, core.Kind)).Command("true").Obj()
	if _, err := e.client.Jobs().Create(context.Background(), job); err != nil {
		e.t.Fatal(err)
	}
}

// end writes the status of a Job as a Job controller does when it completes.
func (e *env) end(name string) {
	e.t.Helper()
	job, err := e.client.Jobs().Get(context.Background(), e.server.Namespace, name)
	if err != nil {
		e.t.Fatal(err)
	}
	_, err = e.client.Jobs().ModifyStatus(context.Background(), job, func(j *batchv1.Job) {
		now := metav1.Now()
		started := now
		if j.Status.StartTime == nil {
			j.Status.StartTime = &started
		}
		j.Status.CompletionTime, j.Status.UncountedTerminatedPods = &now, &batchv1.UncountedTerminatedPods{}
		for _, kind := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
			j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue,
				LastProbeTime: now, LastTransitionTime: now})
		}
	})
	if err != nil {
		e.t.Fatal(err)
	}
}

// until waits until is reports true for a CronJob.
func (e *env) until(name, what string, is func(*batchv1.CronJob) bool) *batchv1.CronJob {
	e.t.Helper()
	last := &batchv1.CronJob{}
	await.Until(e.t, name+": "+what, func() bool {
		cj, err := e.client.CronJobs().Get(context.Background(), e.server.Namespace, name)
		if err != nil {
			return false
		}
		last = cj
		return is(cj)
	}, func() string { return fmt.Sprintf("%+v", last.Status) })
	return last
}

// untilActive waits until status.active lists exactly these Jobs.
func (e *env) untilActive(name string, jobs ...string) {
	e.t.Helper()
	e.until(name, fmt.Sprintf("active %v", jobs), func(cj *batchv1.CronJob) bool {
		var active []string
		for _, r := range cj.Status.Active {
			active = append(active, r.Name)
		}
		slices.Sort(active)
		return slices.Equal(active, jobs)
	})
}

func (e *env) jobs() []batchv1.Job {
	e.t.Helper()
	list, err := e.api.BatchV1().Jobs(e.server.Namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	return list.Items
}

// untilEvents waits until there is an event for each of these prefixes of "Reason: message".
func (e *env) untilEvents(name string, want ...string) {
	e.t.Helper()
	var got []string
	await.Until(e.t, fmt.Sprintf("events of %s with %q", name, want), func() bool {
		got = e.eventsOf(name)
		return !slices.ContainsFunc(want, func(w string) bool {
			return !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, w) })
		})
	}, func() string { return strings.Join(got, "\n") })
}

// eventsOf returns the events of a CronJob, as "Reason: message".
func (e *env) eventsOf(name string) (all []string) {
	e.t.Helper()
	list, err := e.api.CoreV1().Events(e.server.Namespace).List(context.Background(), metav1.ListOptions{
		FieldSelector: "involvedObject.kind=CronJob,involvedObject.name=" + name})
	if err != nil {
		e.t.Fatal(err)
	}
	for i := range list.Items {
		all = append(all, list.Items[i].Reason+": "+list.Items[i].Message)
	}
	return all
}
