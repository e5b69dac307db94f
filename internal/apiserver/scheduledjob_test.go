package apiserver_test

import (
	"context"
	"encoding/json"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/gc"
	"github.com/stint-dev/stint/internal/controller/namespace"
	"github.com/stint-dev/stint/test/await"
)

// startWithCollectors starts a server with the garbage collector and the namespace controller.
func startWithCollectors(t testing.TB) *running {
	t.Helper()
	r := start(t)
	collector, purger := gc.New(r.Client(), record.NewFakeRecorder(100)), namespace.New(r.Client())
	ctx, cancel := context.WithCancel(context.Background())
	if err := r.StartInformers(ctx); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 2)
	go func() { ended <- collector.Run(ctx) }()
	go func() { ended <- purger.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
	return r
}

// runOf creates the Job of a run, as the controller would.
func runOf(t testing.TB, r *running, sj *stintv1.ScheduledJob) *batchv1.Job {
	t.Helper()
	run := job(sj.Name + "-first")
	run.Namespace = sj.Namespace
	run.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(sj, stintv1.SchemeGroupVersion.WithKind("ScheduledJob"))}
	return must[*batchv1.Job](t)(r.Client().Jobs().Create(t.Context(), run))
}

func gone[T client.Object](t testing.TB, resource client.Resource[T], obj client.Object) func() bool {
	return func() bool {
		now, err := resource.Get(t.Context(), obj.GetNamespace(), obj.GetName())
		return apierrors.IsNotFound(err) || err == nil && now.GetUID() != obj.GetUID()
	}
}

func deleteBackground(ctx context.Context, r *running, sj *stintv1.ScheduledJob) error {
	return r.Client().ScheduledJobs().Delete(ctx, sj, client.DeleteOptions{Propagation: metav1.DeletePropagationBackground})
}

func TestDeletingAScheduledJobDeletesItsRunsOrLeavesThem(t *testing.T) {
	r := startWithCollectors(t)
	for how, stays := range map[metav1.DeletionPropagation]bool{
		metav1.DeletePropagationBackground: false,
		metav1.DeletePropagationForeground: false,
		metav1.DeletePropagationOrphan:     true,
		"":                                 false,
	} {
		t.Run("propagation "+string(how), func(t *testing.T) {
			sj := must[*stintv1.ScheduledJob](t)(r.Client().ScheduledJobs().Create(t.Context(), scheduledJob("a")))
			run := runOf(t, r, sj)
			if err := r.Client().ScheduledJobs().Delete(t.Context(), sj, client.DeleteOptions{Propagation: how}); err != nil {
				t.Fatal(err)
			}
			await.Until(t, "the ScheduledJob is gone", gone(t, r.Client().ScheduledJobs(), sj))
			if !stays {
				await.Until(t, "the run is gone", gone(t, r.Client().Jobs(), run))
				return
			}
			await.Until(t, "the run has no owner", func() bool {
				now := must[*batchv1.Job](t)(r.Client().Jobs().Get(t.Context(), run.Namespace, run.Name))
				return len(now.OwnerReferences) == 0
			})
			if err := r.Client().Jobs().Delete(t.Context(), run, client.DeleteOptions{Propagation: metav1.DeletePropagationBackground}); err != nil {
				t.Fatal(err)
			}
			await.Until(t, "the run can be deleted by itself", gone(t, r.Client().Jobs(), run))
		})
	}
}

func TestANamespaceTakesItsScheduledJobsAlong(t *testing.T) {
	r := startWithCollectors(t)
	ctx := t.Context()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	ns = must[*corev1.Namespace](t)(r.clientset(t).CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}))
	sj := scheduledJob("a")
	sj.Namespace = ns.Name
	sj = must[*stintv1.ScheduledJob](t)(r.Client().ScheduledJobs().Create(ctx, sj))
	run := runOf(t, r, sj)
	if err := r.clientset(t).CoreV1().Namespaces().Delete(ctx, ns.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the ScheduledJob is gone", gone(t, r.Client().ScheduledJobs(), sj))
	await.Until(t, "the run is gone", gone(t, r.Client().Jobs(), run))
	await.Until(t, "the namespace is gone", gone(t, r.Client().Namespaces(), ns))
}

func TestScheduledJobsSurviveARestartAndAreWatched(t *testing.T) {
	dir := t.TempDir()
	r := startIn(t, dir, nil)
	sj := scheduledJob("a")
	sj.Spec.Schedule = &stintv1.Schedule{TimeSpec: "R5//PT1H"}
	made := must[*stintv1.ScheduledJob](t)(r.Client().ScheduledJobs().Create(t.Context(), sj)).DeepCopy()
	made.Status.PendingExecutions = []stintv1.Execution{{Tag: "first", Overrides: &stintv1.Overrides{Args: []string{"x"}}}}
	must[*stintv1.ScheduledJob](t)(r.Client().ScheduledJobs().UpdateStatus(t.Context(), made))
	r.stop()
	r = startIn(t, dir, nil)
	informer := r.Client().ScheduledJobs().Informer()
	if err := r.StartInformers(t.Context()); err != nil {
		t.Fatal(err)
	}
	obj, ok, err := informer.GetStore().GetByKey("default/a")
	if err != nil || !ok {
		t.Fatalf("the informer does not show it: %v", err)
	}
	shown := obj.(*stintv1.ScheduledJob)
	if shown.Spec.Schedule.TimeSpec != "R5//PT1H" || len(shown.Status.PendingExecutions) != 1 || shown.Status.PendingExecutions[0].Overrides.Args[0] != "x" {
		text, _ := json.Marshal(shown)
		t.Errorf("got %s", text)
	}
	must[*stintv1.ScheduledJobRun](t)(r.postRun(t, "a", "", `{"tag":"second"}`))
	await.Until(t, "the informer shows the run", func() bool {
		obj, _, _ := informer.GetStore().GetByKey("default/a")
		return len(obj.(*stintv1.ScheduledJob).Status.PendingExecutions) == 2
	})
}
