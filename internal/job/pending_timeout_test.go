package job

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/test/wrappers"
)

// withPendingTimeout begins with a Job with a pending timeout of 30 seconds.
func withPendingTimeout() *wrappers.JobWrapper { return aJob().Annotation(PendingTimeoutSeconds, "30") }

// containers gives p init containers, then main ones, and their states, in this order.
func containers(inits, mains int, states ...corev1.ContainerState) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.InitContainers, p.Spec.Containers = nil, nil
		p.Status.InitContainerStatuses, p.Status.ContainerStatuses = nil, nil
		for i, s := range states[:inits+mains] {
			name := fmt.Sprint("c", i)
			c, status := corev1.Container{Name: name}, corev1.ContainerStatus{Name: name, State: s}
			if i < inits {
				p.Spec.InitContainers = append(p.Spec.InitContainers, c)
				p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, status)
				continue
			}
			p.Spec.Containers = append(p.Spec.Containers, c)
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, status)
		}
	}
}

func running() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}

func unscheduled(reason, message string) *wrappers.PodWrapper {
	return aPod("p").Conditions(corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message})
}

func boundAt(seconds int) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeName, p.Status.StartTime = "here", ptr.To(at(seconds)) }
}

func asSidecar(i int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.InitContainers[i].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	}
}

func noImage() corev1.ContainerState { return wrappers.Waiting("ImagePullBackOff", "no such image") }

// withoutImage begins with a pod whose container waits for its image.
func withoutImage(name string) *wrappers.PodWrapper {
	return aPod(name).With(containers(0, 1, noImage()))
}

func TestPodsThatDoNotStartInTime(t *testing.T) {
	const never = -1
	turns := func(o *Observation) { o.QueuedPodsAreNotPending = true }
	tests := map[string]struct {
		job  *batchv1.Job
		pod  *corev1.Pod
		turn func(*Observation)
		// due is when the pod is late, in seconds after the epoch.
		due             int
		reason, message string
	}{
		"no timeout is asked for": {job: aJob().Obj(), pod: withoutImage("p").Obj(), due: never},
		"an image is missing": {
			pod: withoutImage("p").Obj(), due: 31,
			reason: "ImagePullBackOff", message: "ImagePullBackOff: container c0: no such image",
		},
		"it has started": {pod: aPod("p").Running().With(containers(0, 1, running())).Obj(), due: never},
		"it has started and waits for its next try": {
			pod: aPod("p").Running().With(containers(0, 1, wrappers.Waiting("CrashLoopBackOff", "")), func(p *corev1.Pod) {
				p.Status.ContainerStatuses[0].LastTerminationState = wrappers.Terminated(1, at(3))
			}).Obj(), due: never,
		},
		"it was started again, which is all that its node tells": {
			pod: withoutImage("p").Running().With(func(p *corev1.Pod) {
				p.Status.ContainerStatuses[0].RestartCount = 1
			}).Obj(), due: never,
		},
		"one of two containers has not started": {
			pod: aPod("p").With(containers(0, 2, running(), wrappers.Waiting("CreateContainerConfigError", "no secret"))).Obj(), due: 31,
			reason: "CreateContainerConfigError", message: "CreateContainerConfigError: container c1: no secret",
		},
		"a container with a message says more than one that only waits": {
			pod: aPod("p").With(containers(0, 2, wrappers.Waiting("ContainerCreating", ""), noImage())).Obj(), due: 31,
			reason: "ImagePullBackOff", message: "ImagePullBackOff: container c1: no such image",
		},
		"no message at all": {
			pod: aPod("p").With(containers(0, 1, wrappers.Waiting("ContainerCreating", ""))).Obj(), due: 31,
			reason: "ContainerCreating", message: "ContainerCreating: container c0",
		},
		"an init container cannot start": {
			pod: aPod("p").With(containers(1, 1, noImage(), wrappers.Waiting("PodInitializing", ""))).Obj(), due: 31,
			reason: "ImagePullBackOff", message: "ImagePullBackOff: container c0: no such image",
		},
		"an init container works": {pod: aPod("p").With(containers(1, 1, running(), wrappers.Waiting("PodInitializing", ""))).Obj(), due: never},
		"an init container has worked for a while": {
			pod: aPod("p").With(containers(1, 1, wrappers.Terminated(0, at(500)), noImage())).Obj(), due: 531,
			reason: "ImagePullBackOff", message: "ImagePullBackOff: container c1: no such image",
		},
		"an init container waits for its next try": {
			pod: aPod("p").With(containers(1, 1, wrappers.Waiting("CrashLoopBackOff", "back-off"), wrappers.Waiting("PodInitializing", "")), func(p *corev1.Pod) {
				p.Status.InitContainerStatuses[0].LastTerminationState = wrappers.Terminated(1, at(500))
			}).Obj(), due: 531,
			reason: "CrashLoopBackOff", message: "CrashLoopBackOff: container c0: back-off",
		},
		"a sidecar that works is no work": {
			pod: aPod("p").With(containers(1, 1, running(), noImage()), asSidecar(0)).Obj(), due: 31,
			reason: "ImagePullBackOff", message: "ImagePullBackOff: container c1: no such image",
		},
		"it is being deleted": {pod: withoutImage("p").DeletionTimestamp(at(0)).Obj(), due: never},
		"it has ended":        {pod: withoutImage("p").Exited(1, at(5)).Obj(), due: never},
		"no node is found": {
			pod: unscheduled("Unschedulable", "too big").Obj(), due: 31, reason: "Unschedulable", message: "Unschedulable: too big",
		},
		"it has no node and no status": {
			pod: withoutImage("p").With(func(p *corev1.Pod) { p.Status = corev1.PodStatus{} }).Obj(), due: 31,
			reason: "Pending", message: "Pending: the pod is not bound to a node yet",
		},
		"its node has reported nothing": {
			pod: withoutImage("p").With(func(p *corev1.Pod) { p.Spec.NodeName, p.Status = "far", corev1.PodStatus{} }).Obj(), due: 31,
			reason: "Pending", message: "Pending: node far has reported nothing about the pod yet",
		},
		"the Job is being deleted": {
			job: withPendingTimeout().DeletionTimestamp(at(0)).Obj(), pod: withoutImage("p").Obj(), due: never,
		},
		"the Job is suspended": {job: withPendingTimeout().Suspend(true).Obj(), pod: withoutImage("p").Obj(), due: never},
		"it is queued":         {pod: unscheduled("WaitingForTurn", "older pods go first").Obj(), turn: turns, due: never},
		"it is queued and has no status yet": {
			pod: withoutImage("p").With(func(p *corev1.Pod) { p.Status = corev1.PodStatus{} }).Obj(), turn: turns, due: never,
		},
		"it is queued, which counts": {
			job: withPendingTimeout().Annotation(PendingTimeoutIncludesQueueing, "true").Obj(),
			pod: unscheduled("WaitingForTurn", "older pods go first").Obj(), turn: turns, due: 31,
			reason: "WaitingForTurn", message: "WaitingForTurn: older pods go first",
		},
		"it is no longer queued": {
			pod: withoutImage("p").With(boundAt(500)).Obj(), turn: turns, due: 531,
			reason: "ImagePullBackOff", message: "ImagePullBackOff: container c0: no such image",
		},
		"it is no longer queued, where queueing counts": {
			job: withPendingTimeout().Annotation(PendingTimeoutIncludesQueueing, "true").Obj(),
			pod: withoutImage("p").With(boundAt(20)).Obj(), turn: turns, due: 31,
			reason: "ImagePullBackOff", message: "ImagePullBackOff: container c0: no such image",
		},
		"it fits no machine": {
			pod: unscheduled("Unschedulable", "too big").Obj(), turn: turns, due: 31, reason: "Unschedulable", message: "Unschedulable: too big",
		},
		"it has scheduling gates": {
			pod: unscheduled("SchedulingGated", "gates").With(func(p *corev1.Pod) {
				p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota"}}
			}).Obj(), turn: turns, due: 31, reason: "SchedulingGated", message: "SchedulingGated: gates",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			j := tt.job
			if j == nil {
				j = withPendingTimeout().Obj()
			}
			look := func(seconds int) Decision {
				o := observed(j, tt.pod)
				o.Now = at(seconds).Time
				if tt.turn != nil {
					tt.turn(&o)
				}
				return Decide(o)
			}
			if tt.due == never {
				if d := look(100_000); len(d.FailPending) > 0 {
					t.Errorf("fails the pod: %s", d.FailPending[0].Message)
				}
				return
			}
			if d := look(tt.due - 10); len(d.FailPending) > 0 || d.RequeueAfter != 10*time.Second {
				t.Errorf("10 s before: fails %v, requeues after %s", d.FailPending, d.RequeueAfter)
			}
			d := look(tt.due)
			if len(d.FailPending) != 1 || !d.Requeue || d.IsNoop() {
				t.Fatalf("fails %d pods, requeues %v", len(d.FailPending), d.Requeue)
			}
			want := "Not all containers of the pod have started within 30s: " + tt.message
			if got := d.FailPending[0]; got.Reason != tt.reason || got.Message != want {
				t.Errorf("reason %s, message %q\nwant %s, %q", got.Reason, got.Message, tt.reason, want)
			}
		})
	}
}

func TestAPodIsFailedByItsPendingTimeout(t *testing.T) {
	p := withoutImage("p").Obj()
	p.Generation = 3
	old := corev1.PodCondition{Type: PendingTimeout, Status: corev1.ConditionFalse}
	p.Status.Conditions = []corev1.PodCondition{{Type: "other"}, old}
	stuck := Decide(observed(withPendingTimeout().Obj(), p)).FailPending
	if len(stuck) != 1 {
		t.Fatalf("%d pods are stuck", len(stuck))
	}
	if !stuck[0].Fail(p, at(60).Time) {
		t.Fatal("it was not failed")
	}
	message := "Not all containers of the pod have started within 30s: ImagePullBackOff: container c0: no such image"
	want := corev1.PodStatus{
		Phase: corev1.PodFailed, Reason: "PendingTimeout", Message: message,
		Conditions: []corev1.PodCondition{{Type: "other"}, {
			Type: "stint.dev/PendingTimeout", Status: corev1.ConditionTrue, Reason: "ImagePullBackOff", Message: message,
			LastTransitionTime: at(60), ObservedGeneration: 3,
		}},
		ContainerStatuses: p.Status.ContainerStatuses,
	}
	if diff := cmp.Diff(want, p.Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	next := Decide(observed(withPendingTimeout().Obj(), p))
	if status, _ := next.Status(Outcome{}); len(next.FailPending) > 0 || !slices.Contains(status.UncountedTerminatedPods.Failed, p.UID) {
		t.Errorf("fails %v again, lists %v", next.FailPending, status.UncountedTerminatedPods)
	}
	if next.RequeueAfter != 10*time.Second || len(next.Create) > 0 {
		t.Errorf("requeues after %s, creates %d; want the delay from when the pod was failed", next.RequeueAfter, len(next.Create))
	}
}

func TestAPodThatChangedMeanwhileIsNotFailed(t *testing.T) {
	for name, newest := range map[string]*wrappers.PodWrapper{
		"started":     aPod("p").With(containers(0, 1, running())),
		"initialized": aPod("p").With(containers(1, 1, wrappers.Terminated(0, at(59)), noImage())),
		"ended":       withoutImage("p").Exited(0, at(59)),
		"deleted":     withoutImage("p").DeletionTimestamp(at(0)),
	} {
		t.Run(name, func(t *testing.T) {
			stuck := Decide(observed(withPendingTimeout().Obj(), withoutImage("p").Obj())).FailPending
			was := newest.Obj().DeepCopy()
			if stuck[0].Fail(newest.Obj(), at(60).Time) {
				t.Error("it was failed")
			}
			if diff := cmp.Diff(was, newest.Obj()); diff != "" {
				t.Errorf("and changed:\n%s", diff)
			}
		})
	}
}

// No matter how often and when a Job is synced: a pod is failed by the first sync at or after its timeout, never before,
// and never if it has started, terminated or been deleted.
func TestPendingPodsAreFailedInTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		timeout := rapid.IntRange(1, 50).Draw(t, "timeout")
		job := aJob().Annotation(PendingTimeoutSeconds, fmt.Sprint(timeout)).Parallelism(9).Completions(9).Obj()
		late := map[string]time.Time{}
		pods := repeat(rapid.IntRange(1, 6).Draw(t, "pods"), func(i int) *corev1.Pod {
			born := rapid.IntRange(0, 40).Draw(t, "born")
			p := withoutImage(podNumber(i)).CreationTimestamp(at(born))
			due := at(born + timeout + 1).Time
			switch rapid.SampledFrom([]string{"stuck", "init", "works", "runs", "deleted", "ended"}).Draw(t, "is") {
			case "init":
				end := rapid.IntRange(born, 60).Draw(t, "end of init")
				p.With(containers(1, 1, wrappers.Terminated(0, at(end)), noImage()))
				due = at(end + timeout + 1).Time
			case "works":
				return p.With(containers(1, 1, running(), wrappers.Waiting("PodInitializing", ""))).Obj()
			case "runs":
				return p.With(containers(0, 1, running())).Obj()
			case "deleted":
				return p.DeletionTimestamp(at(0)).Obj()
			case "ended":
				return p.Exited(1, at(born)).Obj()
			}
			late[podNumber(i)] = due
			return p.Obj()
		})
		now := epoch
		for len(late) > 0 {
			o := observed(job, rapid.Permutation(pods).Draw(t, "seen")...)
			o.Now = now
			d := Decide(o)
			for _, s := range d.FailPending {
				if due, ok := late[s.Pod.Name]; !ok || now.Before(due) {
					t.Fatalf("%s is failed at %s, due %s", s.Pod.Name, now, due)
				}
				delete(late, s.Pod.Name)
				s.Fail(s.Pod, now)
			}
			next := now.Add(time.Duration(rapid.IntRange(1, 20).Draw(t, "later")) * time.Second)
			for name, due := range late {
				if !now.Before(due) {
					t.Fatalf("%s is not failed at %s, due %s", name, now, due)
				}
				if len(d.FailPending) == 0 && d.RequeueAfter > 0 && now.Add(d.RequeueAfter).After(due) {
					t.Fatalf("%s is due %s, the next look at %s", name, due, now.Add(d.RequeueAfter))
				}
			}
			now = next
		}
	})
}

func TestTheNumberOfPodsFailedAtOnceIsBounded(t *testing.T) {
	o := observed(withPendingTimeout().Obj(), repeat(2, func(i int) *corev1.Pod { return withoutImage(podNumber(i)).Obj() })...)
	o.MaxPodCreateDelete = 1
	if d := Decide(o); len(d.FailPending) != 1 || !d.Requeue {
		t.Errorf("fails %d, again %v", len(d.FailPending), d.Requeue)
	}
}
