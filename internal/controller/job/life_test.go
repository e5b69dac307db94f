package job_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

func TestEveryPodIsCountedOnceOverRestartsOfTheController(t *testing.T) {
	e := start(t, quick(), always(succeed))
	e.create(newJob("j", pods(400, 20)))
	e.create(newJob("x", pods(400, 20), indexed))
	for n := int32(1); n <= 5; n++ {
		e.until("j", "on its way", func(j *batchv1.Job) bool { return j.Status.Succeeded >= n*50 })
		e.stopController()
		e.startController()
	}
	for _, name := range []string{"j", "x"} {
		if j := e.untilFinished(name); j.Status.Succeeded != 400 || j.Status.Failed != 0 {
			t.Errorf("%s: %d succeeded, %d failed, want 400 and none", name, j.Status.Succeeded, j.Status.Failed)
		}
	}
	if made := len(e.podList()); made != 800 {
		t.Errorf("%d pods were made for 800 completions", made)
	}
}

func TestSuspensionEndsPodsUncountedAndResumptionMakesNewOnes(t *testing.T) {
	var hold atomic.Bool
	hold.Store(true)
	e := start(t, quick(), func(*corev1.Pod) fate {
		if hold.Load() {
			return run
		}
		return succeed
	})
	e.create(newJob("j", pods(3, 3)))
	e.until("j", "running", func(j *batchv1.Job) bool { return ptr.Deref(j.Status.Ready, 0) == 3 })
	e.update("j", func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) })
	j := e.until("j", "suspended", func(j *batchv1.Job) bool {
		return has(j, batchv1.JobSuspended) && j.Status.Active == 0 && *j.Status.Terminating == 0
	})
	if j.Status.Failed != 0 || j.Status.StartTime != nil {
		t.Errorf("a suspended Job has %d failures and start %v, want none", j.Status.Failed, j.Status.StartTime)
	}
	hold.Store(false)
	e.update("j", func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(false) })
	j = e.untilFinished("j")
	if j.Status.Succeeded != 3 || j.Status.Failed != 0 || j.Status.StartTime == nil {
		t.Errorf("after resumption: %+v, want 3 successes, no failure, a start", j.Status)
	}
	e.untilEvents("j", "SuccessfulCreate", "SuccessfulDelete", "Suspended", "Resumed", "Completed")
}

func TestParallelismFollowsTheSpecDownAndUp(t *testing.T) {
	e := start(t, quick(), always(run))
	e.create(newJob("j", pods(10, 6)))
	for _, n := range []int32{6, 2, 0, 4} {
		e.update("j", func(j *batchv1.Job) { j.Spec.Parallelism = &n })
		j := e.until("j", fmt.Sprintf("%d active", n), func(j *batchv1.Job) bool {
			return j.Status.Active == n && ptr.Deref(j.Status.Ready, -1) == n && *j.Status.Terminating == 0
		})
		if j.Status.Failed != 0 {
			t.Errorf("scaling down counts %d failures", j.Status.Failed)
		}
	}
}

func TestAPodDeletedByOthersIsReplacedAndCountsAsFailed(t *testing.T) {
	var hold atomic.Bool
	hold.Store(true)
	e := start(t, quick(), func(*corev1.Pod) fate {
		if hold.Load() {
			return run
		}
		return succeed
	})
	e.create(newJob("j"))
	e.until("j", "running", func(j *batchv1.Job) bool { return ptr.Deref(j.Status.Ready, 0) == 1 })
	victim := e.podList()[0]
	if err := e.client.Pods().Delete(context.Background(), &victim, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.until("j", "one failure", func(j *batchv1.Job) bool { return j.Status.Failed == 1 })
	hold.Store(false)
	// The replacement may be running already, and the node plays a pod only when it changes.
	for _, p := range e.podList() {
		e.node.play(&p)
	}
	if j := e.untilFinished("j"); j.Status.Succeeded != 1 || j.Status.Failed != 1 {
		t.Errorf("%+v, want one success and one failure", j.Status)
	}
}

func TestJobsOfOthersAreLeftAlone(t *testing.T) {
	tests := map[string]struct {
		takes   []string
		manager *string
		runs    bool
	}{
		"no manager, embedded":             {nil, nil, true},
		"our name, embedded":               {nil, ptr.To(job.ManagedBy), true},
		"the usual name, embedded":         {nil, ptr.To(batchv1.JobControllerName), true},
		"another manager, embedded":        {nil, ptr.To("example.com/other"), false},
		"no manager, beside upstream's":    {[]string{job.ManagedBy}, nil, false},
		"our name, beside upstream's":      {[]string{job.ManagedBy}, ptr.To(job.ManagedBy), true},
		"no manager, in upstream's place":  {[]string{batchv1.JobControllerName}, nil, true},
		"our name, only in upstream place": {[]string{batchv1.JobControllerName}, ptr.To(job.ManagedBy), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := quick()
			o.ManagedBy = tt.takes
			e := start(t, o, always(succeed))
			e.create(newJob("theirs", func(s *batchv1.JobSpec) { s.ManagedBy = tt.manager }))
			if tt.runs {
				e.untilFinished("theirs")
				return
			}
			// The second Job is created later: once it has finished, the controller has ignored the first.
			mine := ptr.To(batchv1.JobControllerName)
			if len(tt.takes) > 0 {
				mine = &tt.takes[0]
			}
			e.create(newJob("mine", func(s *batchv1.JobSpec) { s.ManagedBy = mine }))
			e.untilFinished("mine")
			j := e.until("theirs", "there", func(*batchv1.Job) bool { return true })
			if j.Status.StartTime != nil || len(e.podList()) != 1 {
				t.Errorf("a Job of another manager was started: %+v", j.Status)
			}
		})
	}
}

func TestPodsOfADeletedJobLoseTheirFinalizers(t *testing.T) {
	e := start(t, quick(), always(run))
	made := e.create(newJob("j", pods(3, 3)))
	e.until("j", "running", func(j *batchv1.Job) bool { return ptr.Deref(j.Status.Ready, 0) == 3 })
	orphan := metav1.DeletePropagationBackground
	if err := e.client.Jobs().Delete(context.Background(), made, client.DeleteOptions{Propagation: orphan}); err != nil {
		t.Fatal(err)
	}
	await.Until(e.t, "finalizers gone", func() bool {
		return !slices.ContainsFunc(e.podList(), func(p corev1.Pod) bool { return len(p.Finalizers) > 0 })
	}, e.describePods)
}

func TestOrphansAreAdoptedAndOtherPodsReleased(t *testing.T) {
	e := start(t, quick(), always(run))
	ctx := context.Background()
	orphan := wrappers.MakePod("orphan").Namespace(e.namespace()).Label("app", "a").NodeName("node").Command("true").Obj()
	if _, err := e.client.Pods().Create(ctx, orphan); err != nil {
		t.Fatal(err)
	}
	e.letInformersCatchUp() // Else the Job may be shown first, and have two pods of its own.
	e.create(newJob("j", pods(2, 2), func(s *batchv1.JobSpec) {
		s.ManualSelector = ptr.To(true)
		s.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
		s.Template.Labels = map[string]string{"app": "a"}
	}))
	e.until("j", "two pods", func(j *batchv1.Job) bool { return j.Status.Active == 2 })
	adopted := e.pod("orphan")
	if metav1.GetControllerOf(&adopted) == nil || len(adopted.Finalizers) != 1 || len(e.podList()) != 2 {
		t.Errorf("the orphan is not adopted: %s", e.describePods())
	}
	if _, err := e.client.Pods().Modify(ctx, &adopted, func(p *corev1.Pod) { p.Labels["app"] = "b" }); err != nil {
		t.Fatal(err)
	}
	await.Until(e.t, "the pod is released and replaced", func() bool {
		p := e.pod("orphan")
		return metav1.GetControllerOf(&p) == nil && len(p.Finalizers) == 0 && len(e.podList()) == 3
	}, e.describePods)
	if j := e.until("j", "two pods", func(j *batchv1.Job) bool { return j.Status.Active == 2 }); j.Status.Failed != 0 {
		t.Errorf("the release counts as %d failures", j.Status.Failed)
	}
}

func TestAPodThatHasTerminatedIsReleasedToo(t *testing.T) {
	for name, restarts := range map[string]bool{"under way": false, "while there was no controller": true} {
		t.Run(name, func(t *testing.T) {
			e := start(t, quick(), func(p *corev1.Pod) fate {
				if p.Annotations[batchv1.JobCompletionIndexAnnotation] == "0" {
					return succeed
				}
				return run
			})
			e.create(newJob("j", pods(2, 2), indexed))
			e.until("j", "one success", func(j *batchv1.Job) bool { return j.Status.Succeeded == 1 })
			ended := slices.IndexFunc(e.podList(), func(p corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
			pod := e.podList()[ended]
			if restarts {
				e.stopController()
			}
			if _, err := e.client.Pods().Modify(context.Background(), &pod, func(p *corev1.Pod) {
				delete(p.Labels, batchv1.ControllerUidLabel)
				delete(p.Labels, "controller-uid")
			}); err != nil {
				t.Fatal(err)
			}
			if restarts {
				e.startController()
			}
			await.Until(e.t, "it to have no owner", func() bool {
				p := e.pod(pod.Name)
				return metav1.GetControllerOf(&p) == nil
			}, e.describePods)
			if j := e.until("j", "there", func(*batchv1.Job) bool { return true }); j.Status.Succeeded != 1 {
				t.Errorf("%d succeeded after it", j.Status.Succeeded)
			}
		})
	}
}

func (e *env) pod(name string) corev1.Pod {
	e.t.Helper()
	p, err := e.client.Pods().Get(context.Background(), e.namespace(), name)
	if err != nil {
		e.t.Fatal(err)
	}
	return *p
}

// untilEvents waits until the Job has events with all these reasons.
func (e *env) untilEvents(name string, reasons ...string) {
	e.t.Helper()
	var got []string
	await.Until(e.t, fmt.Sprintf("events %v", reasons), func() bool {
		list, err := e.api.CoreV1().Events(e.namespace()).List(e.t.Context(), metav1.ListOptions{})
		if err != nil {
			return false
		}
		got = nil
		for _, ev := range list.Items {
			if ev.InvolvedObject.Name == name {
				got = append(got, ev.Reason)
			}
		}
		return !slices.ContainsFunc(reasons, func(r string) bool { return !slices.Contains(got, r) })
	}, func() string { return fmt.Sprint(got) })
}

func TestAJobShowsItsVerdictBeforeItEnds(t *testing.T) {
	e := start(t, quick(), always(succeed))
	seen := make(chan []batchv1.JobConditionType, 1000)
	if _, err := e.client.Jobs().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, obj any) {
			var kinds []batchv1.JobConditionType
			for _, c := range obj.(*batchv1.Job).Status.Conditions {
				kinds = append(kinds, c.Type)
			}
			seen <- kinds
		}}); err != nil {
		t.Fatal(err)
	}
	e.create(newJob("j"))
	e.untilFinished("j")
	want := []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet}
	for kinds := range seen {
		if len(kinds) == 2 {
			t.Fatal("the Job was complete before its verdict was shown")
		}
		if slices.Equal(kinds, want) {
			return
		}
	}
}

func TestPodsThatAreRefusedAreToldAndTriedAgain(t *testing.T) {
	e := start(t, quick(), always(succeed))
	e.create(newJob("j", pods(4, 4), func(s *batchv1.JobSpec) {
		// The server refuses a pod with both a node and a scheduling gate. It does not validate that in a template.
		s.Template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/gate"}}
	}))
	e.untilEvents("j", "FailedCreate")
	j := e.until("j", "started", func(j *batchv1.Job) bool { return j.Status.StartTime != nil })
	if j.Status.Active != 0 || len(e.podList()) != 0 {
		t.Errorf("%d active, but no pod can be made", j.Status.Active)
	}
	e.update("j", func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) })
	e.until("j", "suspended", func(j *batchv1.Job) bool { return has(j, batchv1.JobSuspended) })
	e.update("j", func(j *batchv1.Job) { j.Spec.Template.Spec.SchedulingGates = nil })
	e.update("j", func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(false) })
	if j := e.untilFinished("j"); j.Status.Succeeded != 4 {
		t.Errorf("%d succeeded", j.Status.Succeeded)
	}
}

func TestAFailedJobEndsWhenItsLastPodHas(t *testing.T) {
	var hold atomic.Bool
	hold.Store(true)
	e := start(t, quick(), func(p *corev1.Pod) fate {
		switch {
		case p.Annotations[batchv1.JobCompletionIndexAnnotation] == "1":
			return fail42
		case hold.Load():
			return linger
		default:
			return run
		}
	})
	e.create(newJob("j", pods(2, 2), indexed, func(s *batchv1.JobSpec) {
		s.PodFailurePolicy = onExitCode42(batchv1.PodFailurePolicyActionFailJob)
	}))
	j := e.until("j", "counted, one pod terminating", func(j *batchv1.Job) bool {
		return has(j, batchv1.JobFailureTarget) && j.Status.Failed == 2 && *j.Status.Terminating == 1
	})
	if has(j, batchv1.JobFailed) || j.Status.Active != 0 {
		t.Errorf("the Job ended before its last pod: %+v", j.Status)
	}
	hold.Store(false)
	for _, p := range e.podList() {
		e.node.play(&p)
	}
	if j := e.untilFinished("j"); *j.Status.Terminating != 0 || j.Status.Failed != 2 {
		t.Errorf("ended with %+v", j.Status)
	}
	e.untilEvents("j", "PodFailurePolicy")
}
