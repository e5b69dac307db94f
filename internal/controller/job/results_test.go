package job_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podstatus"
	"github.com/stint-dev/stint/internal/results"
	"github.com/stint-dev/stint/test/await"
)

// resultSlices returns the slices of all Jobs, the oldest first.
func (e *env) resultSlices() (all []stintv1.ResultSlice) {
	e.t.Helper()
	_, err := e.client.ResultSlices().List(context.Background(), e.namespace(), labels.Everything(), func(s *stintv1.ResultSlice) { all = append(all, *s) })
	if err != nil {
		e.t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b stintv1.ResultSlice) int { return int(a.Before - b.Before) })
	return all
}

// results returns the stored results of a Job, without what its pods would add.
func (e *env) results(name string) *stintv1.JobResults {
	e.t.Helper()
	j, err := e.client.Jobs().Get(context.Background(), e.namespace(), name)
	if err != nil {
		e.t.Fatal(err)
	}
	return results.Merge(j, e.resultSlices(), nil)
}

// sweep deletes every pod as soon as the controller has removed its finalizer.
func (e *env) sweep() {
	e.t.Helper()
	gone := make(chan *corev1.Pod, 10_000)
	ctx, stop := context.WithCancel(context.Background())
	e.t.Cleanup(stop)
	_, err := e.client.Pods().Informer().AddEventHandler(handler(func(p *corev1.Pod) {
		if podstatus.IsTerminated(p) && !core.HasFinalizer(p) {
			gone <- p
		}
	}))
	if err != nil {
		e.t.Fatal(err)
	}
	go func() {
		for {
			select {
			case p := <-gone:
				_ = e.client.Pods().Delete(ctx, p, client.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}) // It may be gone.
			case <-ctx.Done():
				return
			}
		}
	}()
}

// withoutPods waits until all pods are gone.
func (e *env) withoutPods() {
	e.t.Helper()
	await.Until(e.t, "no pods", func() bool { return len(e.podList()) == 0 }, e.describePods)
}

func TestResultsOutliveThePodsAndTheController(t *testing.T) {
	const indexes = 300
	e := start(t, quick(), func(p *corev1.Pod) fate {
		if p.Annotations[batchv1.JobIndexFailureCountAnnotation] == "0" && len(p.Name)%3 == 0 {
			return fail
		}
		return succeed
	})
	e.sweep()
	e.create(newJob("many", func(s *batchv1.JobSpec) {
		s.CompletionMode, s.Completions, s.Parallelism = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](indexes), ptr.To[int32](40)
		s.BackoffLimitPerIndex = ptr.To[int32](1)
	}))
	for n := range int32(3) {
		e.until("many", "under way", func(j *batchv1.Job) bool { return j.Status.Succeeded > 70*n || core.Finished(j) })
		e.stopController()
		e.startController()
	}
	j := e.untilFinished("many")
	e.withoutPods()
	got := e.results("many")
	if len(got.Items) != indexes || got.Dropped != 0 {
		t.Fatalf("%d indexes, %d dropped", len(got.Items), got.Dropped)
	}
	attempts := int32(0)
	for i, r := range got.Items {
		if *r.Index != int32(i) || r.Phase != corev1.PodSucceeded || *r.ExitCode != 0 || r.Attempts == 0 && r.StartedAt != nil {
			t.Errorf("index %d: %+v", i, r)
		}
		attempts += int32(len(r.Earlier)) + 1
	}
	if want := j.Status.Succeeded + j.Status.Failed; attempts != want || j.Status.Failed == 0 {
		t.Errorf("%d pods in the results, %d counted, %d failed", attempts, want, j.Status.Failed)
	}
	for _, s := range e.resultSlices() {
		if n := len(s.Results); n == 0 || n > results.DefaultLimits().Entries {
			t.Errorf("%d results in slice %s", n, s.Name)
		}
	}
}

func TestTheOldestResultsGo(t *testing.T) {
	o := quick()
	o.MaxResults = ptr.To(12)
	e := start(t, o, always(succeed))
	e.sweep()
	e.create(newJob("many", func(s *batchv1.JobSpec) {
		s.Completions, s.Parallelism = ptr.To[int32](60), ptr.To[int32](2)
	}))
	e.until("many", "half done", func(j *batchv1.Job) bool { return j.Status.Succeeded > 30 })
	e.stopController()
	e.startController()
	e.untilFinished("many")
	e.withoutPods()
	got := e.results("many")
	if n := len(got.Items); n > 12 || n < 10 || got.Dropped != int64(60-n) {
		t.Errorf("%d results of 60, %d dropped; want 12 at most, and at least 10: a slice has 3", n, got.Dropped)
	}
}

func TestThePodsOfAFailedJobTellHowTheyEnded(t *testing.T) {
	e := start(t, quick(), func(p *corev1.Pod) fate {
		if p.Annotations[batchv1.JobCompletionIndexAnnotation] == "0" {
			return fail
		}
		return run
	})
	e.sweep()
	e.create(newJob("fails", func(s *batchv1.JobSpec) {
		s.CompletionMode, s.Completions, s.Parallelism = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](3), ptr.To[int32](3)
		s.BackoffLimit = ptr.To[int32](0)
	}))
	e.untilFinished("fails")
	await.Until(e.t, "the ends of all", func() bool {
		got := e.results("fails")
		return len(got.Items) == 3 && *got.Items[0].ExitCode == 1 &&
			!slices.ContainsFunc(got.Items[1:], func(r stintv1.JobResult) bool { return r.ExitCode == nil || *r.ExitCode != 143 || r.Signal != 15 })
	}, func() string { return fmt.Sprintf("%+v", e.results("fails")) })
}

func TestNoResultsWhereNoneAreWanted(t *testing.T) {
	o := quick()
	o.MaxResults = ptr.To(0)
	e := start(t, o, always(succeed))
	e.create(newJob("one"))
	e.untilFinished("one")
	if all := e.resultSlices(); len(all) > 0 {
		t.Errorf("%d slices", len(all))
	}
}

// refusing is a client of a server that answers the creation of a ResultSlice with err while that is set.
type refusing struct {
	connection
	err *atomic.Pointer[error]
}

func (r refusing) ResultSlices() client.Resource[*stintv1.ResultSlice] {
	return refusingSlices{r.connection.ResultSlices(), r.err}
}

type refusingSlices struct {
	client.Resource[*stintv1.ResultSlice]
	err *atomic.Pointer[error]
}

func (r refusingSlices) Create(ctx context.Context, s *stintv1.ResultSlice) (*stintv1.ResultSlice, error) {
	if err := r.err.Load(); err != nil {
		return nil, *err
	}
	return r.Resource.Create(ctx, s)
}

func TestJobsGoOnWhereResultsAreNotTaken(t *testing.T) {
	resource := schema.GroupResource{Group: stintv1.GroupName, Resource: "resultslices"}
	for name, err := range map[string]error{
		"the kind is not known": apierrors.NewNotFound(resource, ""),
		"it is not allowed":     apierrors.NewForbidden(resource, "", fmt.Errorf("no rights")),
		"it is not valid":       apierrors.NewInvalid(stintv1.SchemeGroupVersion.WithKind("ResultSlice").GroupKind(), "", nil),
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := startRefusing(t, &err)
			e.create(newJob("one"))
			e.untilFinished("one")
			if all := e.resultSlices(); len(all) > 0 {
				t.Errorf("%d slices", len(all))
			}
		})
	}
}

func TestResultsThatCannotBeWrittenNowHoldThePods(t *testing.T) {
	busy := error(apierrors.NewServerTimeout(schema.GroupResource{Resource: "resultslices"}, "create", 0))
	e, refuse := startRefusing(t, &busy)
	e.create(newJob("one"))
	e.until("one", "listing the pod", func(j *batchv1.Job) bool {
		return j.Status.UncountedTerminatedPods != nil && len(j.Status.UncountedTerminatedPods.Succeeded) == 1
	})
	if p := e.podList()[0]; !core.HasFinalizer(&p) {
		t.Error("the pod may go before its result is kept")
	}
	refuse(nil)
	e.untilFinished("one")
	if got := e.results("one"); len(got.Items) != 1 {
		t.Errorf("results: %+v", got)
	}
}

// startRefusing starts a controller whose ResultSlices the server refuses with err, until refuse is called with
// another error or nil.
func startRefusing(t *testing.T, err *error) (e *env, refuse func(*error)) {
	t.Helper()
	e = start(t, quick(), always(succeed))
	e.stopController()
	answer := &atomic.Pointer[error]{}
	answer.Store(err)
	e.client = refusing{e.client, answer}
	e.startController()
	return e, answer.Store
}
