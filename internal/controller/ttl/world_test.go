package ttl_test

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/gc"
	"github.com/stint-dev/stint/internal/controller/ttl"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

func TestMain(m *testing.M) { apiservertest.Main(m) }

// world is a namespace with a garbage collector and no Job controller: the test sets the status of Jobs.
type world struct {
	testing.TB
	client.Interface
	ctx       context.Context
	namespace string
	metrics   *prometheus.Registry
	clock     clock.PassiveClock
}

// start starts a ttl controller with this clock and with the client that wrap returns.
func start(t testing.TB, c clock.PassiveClock, wrap func(w *world) ttl.Client) *world {
	t.Helper()
	api := apiservertest.Shared(t)
	w := &world{TB: t, Interface: api.Client(), ctx: context.Background(), namespace: api.Namespace,
		metrics: prometheus.NewRegistry(), clock: c}
	api.Control(gc.New(w, record.NewFakeRecorder(1000)))
	api.Control(ttl.New(wrap(w), ttl.Options{Registerer: w.metrics, Clock: c}))
	return w
}

// plain starts a world whose controller uses the server directly.
func plain(t testing.TB, c clock.PassiveClock) *world {
	t.Helper()
	return start(t, c, func(w *world) ttl.Client { return w })
}

// held returns a clock that the test moves. Its time is a full second, as times in the API are.
func held() *clocktesting.FakePassiveClock {
	return clocktesting.NewFakePassiveClock(time.Now().Truncate(time.Second))
}

// turn moves the clock of a world that was started with held.
func (w *world) turn(by time.Duration) {
	w.clock.(*clocktesting.FakePassiveClock).SetTime(w.clock.Now().Add(by))
}

func (w *world) create(name string, seconds *int32) *batchv1.Job {
	w.Helper()
	job := wrappers.MakeJob(name).GenerateName("job-").Namespace(w.namespace).Obj()
	job.Spec.TTLSecondsAfterFinished = seconds
	job, err := w.Jobs().Create(w.ctx, job)
	if err != nil {
		w.Fatal(err)
	}
	return job
}

// finish ends the Job as complete at this time.
func (w *world) finish(job *batchv1.Job, at time.Time) *batchv1.Job {
	w.Helper()
	done, err := w.Jobs().ModifyStatus(w.ctx, job, func(j *batchv1.Job) {
		when := metav1.NewTime(at)
		j.Status.StartTime, j.Status.CompletionTime = &when, &when
		for _, kind := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
			j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
				Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: when})
		}
	})
	if err != nil {
		w.Fatal(err)
	}
	return done
}

func (w *world) set(job *batchv1.Job, seconds *int32) {
	w.Helper()
	if _, err := w.Jobs().Modify(w.ctx, job, func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = seconds }); err != nil {
		w.Fatal(err)
	}
}

func (w *world) pod(job *batchv1.Job, name string, finalizers ...string) *corev1.Pod {
	w.Helper()
	pod, err := w.Pods().Create(w.ctx, wrappers.MakePodOf(job, name).Finalizers(finalizers...).Obj())
	if err != nil {
		w.Fatal(err)
	}
	await.Until(w, "the garbage collector knows the pod", func() bool {
		_, cached, err := w.Pods().Informer().GetStore().Get(pod)
		return cached && err == nil
	})
	return pod
}

// get returns the Job, or nil.
func (w *world) get(name string) *batchv1.Job {
	w.Helper()
	job, err := w.Jobs().Get(w.ctx, w.namespace, name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.Fatal(err)
	}
	return job
}

func (w *world) gone(name string) {
	w.Helper()
	await.Until(w, name+" is gone", func() bool { return w.get(name) == nil })
}

// stays fails if the Job is deleted by the time that three later Jobs have expired and been deleted.
func (w *world) stays(name string) {
	w.Helper()
	for range 3 {
		other := w.finish(w.create("", ptr.To[int32](0)), w.clock.Now())
		w.gone(other.Name)
	}
	if job := w.get(name); job == nil || job.DeletionTimestamp != nil {
		w.Errorf("%s is deleted", name)
	}
}
