package job

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/podstatus"
)

// TestAnyHistory drives random Jobs through random histories. The ledger checks every write. At the end, without faults
// and with pods that succeed, the Job must finish with counters that agree with its pods.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, drawJob(t))
		w.terminatedLimit = rapid.IntRange(0, 3).Draw(t, "terminated pods limit")
		w.leftByAnother = rapid.IntRange(0, 2).Draw(t, "left by another Job")
		t.Repeat(w.actions())
		w.finish()
	})
}

func (w *world) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"sync":       func(*rapid.T) { w.syncUnlessFinished() },
		"sync again": func(*rapid.T) { w.syncUnlessFinished() },
		"show a pod": func(t *rapid.T) { w.show(w.drawPod(t)) },
		"show the Job": func(*rapid.T) {
			w.seenJob = w.job
		},
		"show all":  func(*rapid.T) { w.showAll() },
		"run a pod": func(t *rapid.T) { w.run(w.drawStored(t)) },
		"end a pod": func(t *rapid.T) {
			w.endPod(w.drawStored(t), rapid.SampledFrom([]int32{0, 0, 1, 42}).Draw(t, "exit code"))
		},
		"evict":               func(t *rapid.T) { w.evict(w.drawStored(t)) },
		"restart a container": func(t *rapid.T) { w.restartContainer(w.drawStored(t)) },
		"force":               func(t *rapid.T) { w.forceDelete(w.drawStored(t)) },
		"delete pod":          func(t *rapid.T) { w.deletePod(w.drawStored(t)) },
		"restart":             func(*rapid.T) { w.restart() },
		"moment": func(t *rapid.T) {
			w.now = w.now.Add(time.Duration(rapid.IntRange(1, 999).Draw(t, "milliseconds")) * time.Millisecond)
		},
		"time": func(t *rapid.T) {
			w.now = w.now.Add(time.Duration(rapid.IntRange(1, 700).Draw(t, "seconds")) * time.Second)
		},
		"suspend": func(t *rapid.T) { w.setSuspend(rapid.Bool().Draw(t, "suspend")) },
		"parallelism": func(t *rapid.T) {
			n := rapid.Int32Range(0, 5).Draw(t, "parallelism")
			w.updateJob(func(j *batchv1.Job) { j.Spec.Parallelism = &n })
		},
		"scale": func(t *rapid.T) { w.scale(rapid.Int32Range(0, 9).Draw(t, "completions")) },
		"delete the Job": func(t *rapid.T) {
			if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
				w.updateJob(func(j *batchv1.Job) { j.DeletionTimestamp = ptr.To(w.stamp()) })
			}
		},
	}
}

func drawJob(t *rapid.T) *batchv1.Job {
	j := aNewJob().Parallelism(rapid.Int32Range(0, 5).Draw(t, "parallelism")).
		BackoffLimit(rapid.Int32Range(0, 4).Draw(t, "backoffLimit")).Obj()
	if rapid.Bool().Draw(t, "counted") {
		j.Spec.Completions = ptr.To(rapid.Int32Range(0, 8).Draw(t, "completions"))
	}
	if rapid.Bool().Draw(t, "deadline") {
		j.Spec.ActiveDeadlineSeconds = ptr.To(rapid.Int64Range(1, 5000).Draw(t, "activeDeadlineSeconds"))
	}
	if rapid.Bool().Draw(t, "replace ended only") {
		j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
	}
	if rapid.Bool().Draw(t, "indexed") {
		drawIndexed(t, j)
	}
	if rapid.Bool().Draw(t, "limited") {
		j.Annotations = map[string]string{FailedPodsLimit: strconv.Itoa(rapid.IntRange(0, 2).Draw(t, "failed-pods-limit"))}
	}
	switch {
	case rapid.IntRange(0, 2).Draw(t, "podFailurePolicy") == 0:
		drawFailurePolicy(t, j)
	case !perIndex(j) && rapid.IntRange(0, 3).Draw(t, "OnFailure") == 0:
		j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	}
	return j
}

func drawIndexed(t *rapid.T, j *batchv1.Job) {
	j.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
	j.Spec.Completions = ptr.To(rapid.Int32Range(0, 8).Draw(t, "completions"))
	if rapid.Bool().Draw(t, "per index") {
		j.Spec.BackoffLimitPerIndex = ptr.To(rapid.Int32Range(0, 2).Draw(t, "backoffLimitPerIndex"))
		j.Spec.BackoffLimit = ptr.To[int32](1 << 30)
		if rapid.Bool().Draw(t, "max failed") {
			j.Spec.MaxFailedIndexes = ptr.To(rapid.Int32Range(0, 3).Draw(t, "maxFailedIndexes"))
		}
	}
	if rapid.Bool().Draw(t, "successPolicy") {
		j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: rapid.SliceOfN(rapid.Custom(drawSuccessRule), 1, 2).Draw(t, "rules")}
	}
}

func drawFailurePolicy(t *rapid.T, j *batchv1.Job) {
	actions := []batchv1.PodFailurePolicyAction{batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore,
		batchv1.PodFailurePolicyActionCount}
	if perIndex(j) {
		actions = append(actions, batchv1.PodFailurePolicyActionFailIndex)
	}
	j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
	rule := func(t *rapid.T) batchv1.PodFailurePolicyRule {
		r := batchv1.PodFailurePolicyRule{Action: rapid.SampledFrom(actions).Draw(t, "action")}
		if rapid.Bool().Draw(t, "by condition") {
			r.OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
			return r
		}
		operator := rapid.SampledFrom([]batchv1.PodFailurePolicyOnExitCodesOperator{
			batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn}).Draw(t, "operator")
		r.OnExitCodes = &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: operator, Values: []int32{42}}
		return r
	}
	j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: rapid.SliceOfN(rapid.Custom(rule), 1, 3).Draw(t, "rules")}
}

func drawSuccessRule(t *rapid.T) (r batchv1.SuccessPolicyRule) {
	if rapid.Bool().Draw(t, "indexes") {
		r.SucceededIndexes = ptr.To(rapid.SampledFrom([]string{"0", "0-1", "1,3", "0-7"}).Draw(t, "succeededIndexes"))
	}
	if r.SucceededIndexes == nil || rapid.Bool().Draw(t, "count") {
		r.SucceededCount = ptr.To(rapid.Int32Range(1, 6).Draw(t, "succeededCount"))
	}
	return r
}

func (w *world) drawPod(t *rapid.T) types.UID {
	if len(w.uids()) == 0 {
		t.Skip("no pods")
	}
	return rapid.SampledFrom(w.uids()).Draw(t, "pod")
}

func (w *world) drawStored(t *rapid.T) types.UID {
	uid := w.drawPod(t)
	if w.pods[uid] == nil {
		t.Skip("the pod is gone")
	}
	return uid
}

func (w *world) run(uid types.UID) {
	if w.pods[uid].Status.Phase == corev1.PodPending {
		w.change(uid, func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodRunning
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue,
				LastTransitionTime: w.stamp()}}
		})
	}
}

func (w *world) endPod(uid types.UID, code int32) {
	if podstatus.IsTerminated(w.pods[uid]) {
		return
	}
	w.change(uid, func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodSucceeded
		if code != 0 {
			p.Status.Phase = corev1.PodFailed
		}
		p.Status.Conditions = nil
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: w.stamp()}}}}
	})
}

func (w *world) evict(uid types.UID) {
	if !podstatus.IsTerminated(w.pods[uid]) {
		w.change(uid, func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodFailed
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
		})
	}
}

func (w *world) restartContainer(uid types.UID) {
	if w.pods[uid].Status.Phase == corev1.PodRunning && w.pods[uid].Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		w.change(uid, func(p *corev1.Pod) {
			n := restartsOf(p)
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", RestartCount: int32(n) + 1}}
		})
	}
}

// forceDelete is what happens to a pod of a lost node: it is set to Failed and deleted, and gone when it has no finalizer.
func (w *world) forceDelete(uid types.UID) {
	w.change(uid, func(p *corev1.Pod) {
		if !podstatus.IsTerminated(p) {
			p.Status.Phase = corev1.PodFailed
		}
		if p.DeletionTimestamp == nil {
			p.DeletionTimestamp = ptr.To(w.stamp())
		}
	})
}

func (w *world) deletePod(uid types.UID) {
	if w.pods[uid].DeletionTimestamp == nil {
		w.change(uid, func(p *corev1.Pod) { p.DeletionTimestamp = ptr.To(w.stamp()) })
	}
}

func (w *world) setSuspend(on bool) {
	if !Finished(w.job) {
		w.updateJob(func(j *batchv1.Job) { j.Spec.Suspend = &on })
	}
}

func (w *world) syncUnlessFinished() Decision {
	if Finished(w.seenJob) {
		return Decision{next: &w.seenJob.Status, persisted: &w.seenJob.Status}
	}
	return w.sync()
}

// scale makes an elastic indexed Job larger or smaller.
func (w *world) scale(n int32) {
	if !w.indexed() || w.job.Spec.SuccessPolicy != nil {
		w.t.Skip("not elastic")
	}
	w.scaled = true
	w.updateJob(func(j *batchv1.Job) { j.Spec.Completions, j.Spec.Parallelism = &n, &n })
}

// over reports whether the Job needs no more decisions: it is finished, or deleted and no pod has its finalizer.
func (w *world) over() bool {
	held := false
	for _, p := range w.pods {
		held = held || HasFinalizer(p)
	}
	return Finished(w.seenJob) || (w.job.DeletionTimestamp != nil && !held)
}

// finish stops all faults, lets every pod succeed and expects the Job to finish within a bounded number of steps.
func (w *world) finish() {
	w.faults = false
	w.setSuspend(false)
	w.updateJob(func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](3) })
	for step := 0; ; step++ {
		w.showAll()
		if w.over() {
			break
		}
		if step > 200 {
			w.t.Fatalf("the Job does not end: %+v\n%s", w.job.Status, w.describePods())
		}
		w.sync()
		for _, uid := range w.uids() {
			if w.pods[uid] != nil {
				w.run(uid)
				w.endPod(uid, 0)
			}
		}
		w.now = w.now.Add(10 * time.Minute)
	}
	for uid, p := range w.pods {
		if HasFinalizer(p) {
			w.t.Fatalf("pod %s keeps its finalizer after the Job has ended", uid)
		}
	}
	if w.job.DeletionTimestamp == nil {
		w.checkEnd()
		w.deleteExcessFailedPods()
	}
}

// checkEnd compares the counters with the pods that were listed and counted.
func (w *world) checkEnd() {
	s := w.job.Status
	if counted := int32(w.ledger.counted.Len()); !w.indexed() && s.Succeeded+s.Failed != counted {
		w.t.Fatalf("%d pods were counted, the status says %d and %d", counted, s.Succeeded, s.Failed)
	}
	if w.ledger.listed.Len() != w.ledger.counted.Len() {
		w.t.Fatalf("%d pods were listed and %d counted", w.ledger.listed.Len(), w.ledger.counted.Len())
	}
	if w.ledger.ended == batchv1.JobComplete && w.job.Spec.SuccessPolicy == nil && w.job.Spec.Completions != nil && !w.scaled &&
		s.Succeeded < *w.job.Spec.Completions {
		w.t.Fatalf("the Job is complete with %d of %d", s.Succeeded, *w.job.Spec.Completions)
	}
}

func (w *world) describePods() (s string) {
	for _, uid := range w.uids() {
		p := w.pods[uid]
		if p == nil {
			s += fmt.Sprintf("%s gone\n", uid)
			continue
		}
		s += fmt.Sprintf("%s index=%d %s deleted=%v finalizer=%v\n", uid, IndexOf(p), p.Status.Phase, p.DeletionTimestamp != nil, HasFinalizer(p))
	}
	return s
}
