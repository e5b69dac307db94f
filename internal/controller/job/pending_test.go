package job_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/job"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/await"
)

// withPendingTimeout makes a Job whose pods have two minutes to start.
func withPendingTimeout(name string, changes ...func(*batchv1.JobSpec)) *batchv1.Job {
	j := newJob(name, changes...)
	j.Annotations = map[string]string{core.PendingTimeoutSeconds: "120"}
	return j
}

// stepUntil steps the clock of the controller by seconds until is holds.
func (e *env) stepUntil(clock *clocktesting.FakeClock, name, what string, is func(*batchv1.Job) bool) *batchv1.Job {
	e.t.Helper()
	return e.until(name, what, func(j *batchv1.Job) bool {
		clock.Step(time.Second)
		return is(j)
	})
}

func fast() (job.Options, *clocktesting.FakeClock) {
	clock := clocktesting.NewFakeClock(time.Now())
	o := quick()
	o.Clock = clock
	return o, clock
}

// stuckPod reports whether p was failed because it had not started.
func stuckPod(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed && p.Status.Reason == "PendingTimeout" &&
		slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == core.PendingTimeout && c.Status == corev1.ConditionTrue
		})
}

func TestPodsThatDoNotStartAreFailedCountedAndReplaced(t *testing.T) {
	o, clock := fast()
	e := start(t, o, always(pend))
	e.create(withPendingTimeout("j", func(s *batchv1.JobSpec) { s.BackoffLimit = ptr.To[int32](1) }))
	ended := e.stepUntil(clock, "j", "failed", func(j *batchv1.Job) bool { return has(j, batchv1.JobFailed) })
	if ended.Status.Failed != 2 {
		t.Errorf("%d failures are counted, want 2", ended.Status.Failed)
	}
	list := e.podList()
	for i := range list {
		if !stuckPod(&list[i]) || core.HasFinalizer(&list[i]) {
			t.Errorf("pod %s: %s %s, finalizers %v", list[i].Name, list[i].Status.Phase, list[i].Status.Reason, list[i].Finalizers)
		}
	}
	if len(list) != 2 {
		t.Errorf("%d pods, want 2", len(list))
	}
	await.Until(e.t, "an event for each", func() bool {
		events, err := e.api.CoreV1().Events(e.namespace()).List(e.t.Context(), metav1.ListOptions{FieldSelector: "reason=PendingTimeout,involvedObject.kind=Job"})
		return err == nil && len(events.Items) == 2 && strings.Contains(events.Items[0].Message, "node node has reported nothing about the pod yet")
	}, e.describePods)
}

func TestPodsThatStartInTimeLiveOn(t *testing.T) {
	o, clock := fast()
	// The test sets the state of the container, which a start needs besides the phase.
	e := start(t, o, always(pend))
	e.create(withPendingTimeout("j"))
	// The clock stands still until the pod has started.
	await.Until(e.t, "a pod", func() bool { return len(e.podList()) == 1 }, e.describePods)
	pod := e.podList()[0]
	if _, err := e.client.Pods().ModifyStatus(t.Context(), &pod, started); err != nil {
		t.Fatal(err)
	}
	e.stepUntil(clock, "j", "active", func(j *batchv1.Job) bool { return j.Status.Active == 1 })
	late := withPendingTimeout("late", func(s *batchv1.JobSpec) { s.BackoffLimit = ptr.To[int32](0) })
	e.create(late)
	e.stepUntil(clock, "late", "failed", func(j *batchv1.Job) bool { return has(j, batchv1.JobFailed) })
	if j := e.until("j", "there", func(*batchv1.Job) bool { return true }); j.Status.Active != 1 || j.Status.Failed != 0 {
		t.Errorf("active %d, failed %d", j.Status.Active, j.Status.Failed)
	}
}

func started(p *corev1.Pod) {
	p.Status.Phase = corev1.PodRunning
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
}

// startsFirst has a pod start right before its status is written.
type startsFirst struct {
	connection
	raced chan *corev1.Pod
}

func (c startsFirst) Pods() client.Resource[*corev1.Pod] {
	return racedPods{c.connection.Pods(), c.raced}
}

type racedPods struct {
	client.Resource[*corev1.Pod]
	raced chan *corev1.Pod
}

func (r racedPods) UpdateStatus(ctx context.Context, p *corev1.Pod) (*corev1.Pod, error) {
	if stored, err := r.ModifyStatus(ctx, p, started); err == nil {
		select {
		case r.raced <- stored:
		default:
		}
	}
	return r.Resource.UpdateStatus(ctx, p)
}

func TestAPodThatStartsAtTheLastMomentIsNotOverwritten(t *testing.T) {
	o, clock := fast()
	e := start(t, o, always(pend))
	e.stopController()
	raced := startsFirst{e.client, make(chan *corev1.Pod, 1)}
	e.client = raced
	e.startController()
	e.create(withPendingTimeout("j"))
	e.stepUntil(clock, "j", "late", func(*batchv1.Job) bool { return len(raced.raced) > 0 })
	e.stepUntil(clock, "j", "left alone", func(j *batchv1.Job) bool { return j.Status.Active == 1 && j.Status.Failed == 0 })
	for range 200 {
		clock.Step(time.Second)
	}
	pod := e.podList()[0]
	if pod.Status.Phase != corev1.PodRunning || stuckPod(&pod) {
		t.Errorf("pod %s, %s", pod.Status.Phase, pod.Status.Reason)
	}
}

// takenAway takes a pod away from its Job just before the answer to the first live read of it. The Job cannot adopt
// it again, as it has no labels any more.
type takenAway struct {
	connection
	done chan struct{}
}

func (c takenAway) Pods() client.Resource[*corev1.Pod] { return takenPods{c.connection.Pods(), c.done} }

type takenPods struct {
	client.Resource[*corev1.Pod]
	done chan struct{}
}

func (r takenPods) Get(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	stored, err := r.Resource.Get(ctx, namespace, name)
	select {
	case <-r.done:
		return stored, err
	default:
	}
	if err != nil {
		return nil, err
	}
	defer close(r.done)
	return r.Modify(ctx, stored, func(p *corev1.Pod) { p.OwnerReferences, p.Labels = nil, nil })
}

func TestAPodThatIsAnothersByNowIsNotFailed(t *testing.T) {
	o, clock := fast()
	o.ConcurrentSyncs = 1
	e := start(t, o, always(pend))
	e.stopController()
	taken := takenAway{e.client, make(chan struct{})}
	e.client = taken
	e.startController()
	e.create(withPendingTimeout("j", func(s *batchv1.JobSpec) { s.BackoffLimit = ptr.To[int32](0) }))
	// Another pod, which is made in its place, is stuck.
	e.stepUntil(clock, "j", "failed", func(j *batchv1.Job) bool { return has(j, batchv1.JobFailed) })
	stuck, left := 0, 0
	for _, p := range e.podList() {
		switch {
		case len(p.OwnerReferences) > 0 && stuckPod(&p):
			stuck++
		case len(p.OwnerReferences) == 0 && !stuckPod(&p):
			left++
		}
	}
	if stuck != 1 || left != 1 {
		t.Errorf("%d pods of the Job are stuck, and %d that is not its own is left alone; want one each", stuck, left)
	}
}

func TestAJobWhosePodsAreRefusedFails(t *testing.T) {
	o, clock := fast()
	e := start(t, o, always(pend))
	j := withPendingTimeout("j")
	// No API server validates the finalizers in a template before a pod is created from it.
	j.Spec.Template.Finalizers = []string{"no name"}
	e.create(j)
	ended := e.stepUntil(clock, "j", "failed", func(j *batchv1.Job) bool { return has(j, batchv1.JobFailed) })
	last := ended.Status.Conditions[len(ended.Status.Conditions)-1]
	if last.Reason != "PendingTimeout" || !strings.Contains(last.Message, "no name") {
		t.Errorf("%s: %s", last.Reason, last.Message)
	}
}
