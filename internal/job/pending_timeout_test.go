package job

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

// asking gives a Job an annotation.
func asking(key, value string) func(*batchv1.Job) {
	return func(j *batchv1.Job) { metav1.SetMetaDataAnnotation(&j.ObjectMeta, key, value) }
}

var inHalfAMinute = asking(PendingTimeoutSeconds, "30")

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

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func works() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}

func endedWith(code int32, seconds int) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: at(seconds)}}
}

func unplaced(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers = []corev1.Container{{Name: "c0"}}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message}}
	}
}

func placedAt(seconds int) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeName, p.Status.StartTime = "here", ptr.To(at(seconds)) }
}

func made(seconds int) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.CreationTimestamp = at(seconds) }
}

func beside(i int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.InitContainers[i].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	}
}

func noImage() corev1.ContainerState { return waiting("ImagePullBackOff", "no such image") }

func TestPodsThatDoNotStartInTimeAreStuck(t *testing.T) {
	const never = -1
	turns := func(o *Observation) { o.PodsTakeTurns = true }
	tests := map[string]struct {
		job  *batchv1.Job
		pod  *corev1.Pod
		turn func(*Observation)
		// due is when the pod is late, in seconds after the epoch.
		due             int
		reason, message string
	}{
		"no timeout is asked for": {job: aJob(), pod: aPod("p", containers(0, 1, noImage())), due: never},
		"an image is missing": {
			pod: aPod("p", containers(0, 1, noImage())), due: 31,
			reason: "ImagePullBackOff", message: "ImagePullBackOff: container c0: no such image",
		},
		"it has started": {pod: aPod("p", running, containers(0, 1, works())), due: never},
		"it has started and waits for its next try": {
			pod: aPod("p", running, containers(0, 1, waiting("CrashLoopBackOff", "")), func(p *corev1.Pod) {
				p.Status.ContainerStatuses[0].LastTerminationState = endedWith(1, 3)
			}), due: never,
		},
		"it was started again, which is all that its node tells": {
			pod: aPod("p", running, containers(0, 1, noImage()), func(p *corev1.Pod) {
				p.Status.ContainerStatuses[0].RestartCount = 1
			}), due: never,
		},
		"one of two containers has not started": {
			pod: aPod("p", containers(0, 2, works(), waiting("CreateContainerConfigError", "no secret"))), due: 31,
			reason: "CreateContainerConfigError", message: "CreateContainerConfigError: container c1: no secret",
		},
		"words say more than that a container waits": {
			pod: aPod("p", containers(0, 2, waiting("ContainerCreating", ""), noImage())), due: 31,
			reason: "ImagePullBackOff", message: "ImagePullBackOff: container c1: no such image",
		},
		"no words at all": {
			pod: aPod("p", containers(0, 1, waiting("ContainerCreating", ""))), due: 31,
			reason: "ContainerCreating", message: "ContainerCreating: container c0",
		},
		"an init container cannot start": {
			pod: aPod("p", containers(1, 1, noImage(), waiting("PodInitializing", ""))), due: 31,
			reason: "ImagePullBackOff", message: "ImagePullBackOff: container c0: no such image",
		},
		"an init container works": {pod: aPod("p", containers(1, 1, works(), waiting("PodInitializing", ""))), due: never},
		"an init container has worked for a while": {
			pod: aPod("p", containers(1, 1, endedWith(0, 500), noImage())), due: 531,
			reason: "ImagePullBackOff", message: "ImagePullBackOff: container c1: no such image",
		},
		"an init container waits for its next try": {
			pod: aPod("p", containers(1, 1, waiting("CrashLoopBackOff", "back-off"), waiting("PodInitializing", "")), func(p *corev1.Pod) {
				p.Status.InitContainerStatuses[0].LastTerminationState = endedWith(1, 500)
			}), due: 531,
			reason: "CrashLoopBackOff", message: "CrashLoopBackOff: container c0: back-off",
		},
		"a sidecar that works is no work": {
			pod: aPod("p", containers(1, 1, works(), noImage()), beside(0)), due: 31,
			reason: "ImagePullBackOff", message: "ImagePullBackOff: container c1: no such image",
		},
		"it has not been told to end by itself": {pod: aPod("p", deleted, containers(0, 1, noImage())), due: never},
		"it has ended":                          {pod: aPod("p", containers(0, 1, noImage()), exited(1, 5)), due: never},
		"no node is found": {
			pod: aPod("p", unplaced("Unschedulable", "too big")), due: 31, reason: "Unschedulable", message: "Unschedulable: too big",
		},
		"nobody takes notice": {
			pod: aPod("p", containers(0, 1, noImage()), func(p *corev1.Pod) { p.Status = corev1.PodStatus{} }), due: 31,
			reason: "Pending", message: "Pending: no node has taken the pod",
		},
		"its node is silent": {
			pod: aPod("p", containers(0, 1, noImage()), func(p *corev1.Pod) { p.Spec.NodeName, p.Status = "far", corev1.PodStatus{} }), due: 31,
			reason: "Pending", message: "Pending: node far tells nothing of the pod",
		},
		"the Job is being deleted": {
			job: aJob(inHalfAMinute, func(j *batchv1.Job) { j.DeletionTimestamp = ptr.To(at(0)) }), pod: aPod("p", containers(0, 1, noImage())), due: never,
		},
		"the Job is suspended":  {job: aJob(inHalfAMinute, withSuspend), pod: aPod("p", containers(0, 1, noImage())), due: never},
		"its turn has not come": {pod: aPod("p", unplaced("WaitingForTurn", "older pods go first")), turn: turns, due: never},
		"its turn has not come and nobody has told": {
			pod: aPod("p", containers(0, 1, noImage()), func(p *corev1.Pod) { p.Status = corev1.PodStatus{} }), turn: turns, due: never,
		},
		"its turn has not come, which counts": {
			job: aJob(inHalfAMinute, asking(PendingTimeoutIncludesQueueing, "true")),
			pod: aPod("p", unplaced("WaitingForTurn", "older pods go first")), turn: turns, due: 31,
			reason: "WaitingForTurn", message: "WaitingForTurn: older pods go first",
		},
		"its turn has come": {
			pod: aPod("p", placedAt(500), containers(0, 1, noImage())), turn: turns, due: 531,
			reason: "ImagePullBackOff", message: "ImagePullBackOff: container c0: no such image",
		},
		"its turn has come where that counts": {
			job: aJob(inHalfAMinute, asking(PendingTimeoutIncludesQueueing, "true")),
			pod: aPod("p", placedAt(20), containers(0, 1, noImage())), turn: turns, due: 31,
			reason: "ImagePullBackOff", message: "ImagePullBackOff: container c0: no such image",
		},
		"it fits no machine": {
			pod: aPod("p", unplaced("Unschedulable", "too big")), turn: turns, due: 31, reason: "Unschedulable", message: "Unschedulable: too big",
		},
		"it is held back": {
			pod: aPod("p", unplaced("SchedulingGated", "gates"), func(p *corev1.Pod) {
				p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota"}}
			}), turn: turns, due: 31, reason: "SchedulingGated", message: "SchedulingGated: gates",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			j := tt.job
			if j == nil {
				j = aJob(inHalfAMinute)
			}
			look := func(seconds int) Decision {
				o := seen(j, tt.pod)
				o.Now = at(seconds).Time
				if tt.turn != nil {
					tt.turn(&o)
				}
				return Decide(o)
			}
			if tt.due == never {
				if d := look(100_000); len(d.Fail) > 0 {
					t.Errorf("fails the pod: %s", d.Fail[0].Message)
				}
				return
			}
			if d := look(tt.due - 10); len(d.Fail) > 0 || d.LookAgainAfter != 10*time.Second {
				t.Errorf("10 s before: fails %v, looks again after %s", d.Fail, d.LookAgainAfter)
			}
			d := look(tt.due)
			if len(d.Fail) != 1 || !d.Again || d.Rest() {
				t.Fatalf("fails %d pods, looks again %v", len(d.Fail), d.Again)
			}
			want := "Not all containers of the pod have started within 30s: " + tt.message
			if got := d.Fail[0]; got.Reason != tt.reason || got.Message != want {
				t.Errorf("reason %s, message %q\nwant %s, %q", got.Reason, got.Message, tt.reason, want)
			}
		})
	}
}

func TestAStuckPodBecomesFailed(t *testing.T) {
	p := aPod("p", containers(0, 1, noImage()))
	p.Generation = 3
	old := corev1.PodCondition{Type: PendingTimeout, Status: corev1.ConditionFalse}
	p.Status.Conditions = []corev1.PodCondition{{Type: "other"}, old}
	stuck := Decide(seen(aJob(inHalfAMinute), p)).Fail
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
	next := Decide(seen(aJob(inHalfAMinute), p))
	if status, _ := next.Status(Outcome{}); len(next.Fail) > 0 || !slices.Contains(status.UncountedTerminatedPods.Failed, p.UID) {
		t.Errorf("fails %v again, lists %v", next.Fail, status.UncountedTerminatedPods)
	}
	if next.LookAgainAfter != 10*time.Second || len(next.Create) > 0 {
		t.Errorf("looks again after %s, creates %d; want the delay from when the pod was failed", next.LookAgainAfter, len(next.Create))
	}
}

func TestAPodThatGotOnMeanwhileIsNotFailed(t *testing.T) {
	for name, change := range map[string]func(*corev1.Pod){
		"started":     containers(0, 1, works()),
		"initialized": containers(1, 1, endedWith(0, 59), noImage()),
		"ended":       exited(0, 59),
		"told to end": deleted,
	} {
		t.Run(name, func(t *testing.T) {
			stuck := Decide(seen(aJob(inHalfAMinute), aPod("p", containers(0, 1, noImage())))).Fail
			newest := aPod("p", containers(0, 1, noImage()), change)
			was := newest.DeepCopy()
			if stuck[0].Fail(newest, at(60).Time) {
				t.Error("it was failed")
			}
			if diff := cmp.Diff(was, newest); diff != "" {
				t.Errorf("and changed:\n%s", diff)
			}
		})
	}
}

// However often and whenever a Job is looked at: a pod is failed at the first look at or after its time, never before,
// and never if it has started, ended or been told to end.
func TestStuckPodsAreFailedInTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		timeout := rapid.IntRange(1, 50).Draw(t, "timeout")
		job := aJob(asking(PendingTimeoutSeconds, fmt.Sprint(timeout)), func(j *batchv1.Job) { j.Spec.Parallelism, j.Spec.Completions = ptr.To[int32](9), ptr.To[int32](9) })
		late := map[string]time.Time{}
		pods := repeat(rapid.IntRange(1, 6).Draw(t, "pods"), func(i int) *corev1.Pod {
			born := rapid.IntRange(0, 40).Draw(t, "born")
			p := aPod(podNumber(i), made(born), containers(0, 1, noImage()))
			due := at(born + timeout + 1).Time
			switch rapid.SampledFrom([]string{"stuck", "init", "works", "runs", "told", "ended"}).Draw(t, "is") {
			case "init":
				end := rapid.IntRange(born, 60).Draw(t, "end of init")
				containers(1, 1, endedWith(0, end), noImage())(p)
				due = at(end + timeout + 1).Time
			case "works":
				containers(1, 1, works(), waiting("PodInitializing", ""))(p)
				return p
			case "runs":
				containers(0, 1, works())(p)
				return p
			case "told":
				deleted(p)
				return p
			case "ended":
				exited(1, born)(p)
				return p
			}
			late[p.Name] = due
			return p
		})
		now := epoch
		for len(late) > 0 {
			o := seen(job, rapid.Permutation(pods).Draw(t, "seen")...)
			o.Now = now
			d := Decide(o)
			for _, s := range d.Fail {
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
				if len(d.Fail) == 0 && d.LookAgainAfter > 0 && now.Add(d.LookAgainAfter).After(due) {
					t.Fatalf("%s is due %s, the next look at %s", name, due, now.Add(d.LookAgainAfter))
				}
			}
			now = next
		}
	})
}

func TestTheDecisionFailsNoMorePodsThanOthersRemove(t *testing.T) {
	o := seen(aJob(inHalfAMinute), repeat(2, func(i int) *corev1.Pod { return aPod(podNumber(i), containers(0, 1, noImage())) })...)
	o.MaxPodCreateDelete = 1
	if d := Decide(o); len(d.Fail) != 1 || !d.Again {
		t.Errorf("fails %d, again %v", len(d.Fail), d.Again)
	}
}
