package model_test

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/test/simulated"
)

// What kubelets, the garbage collector and other controllers of a cluster do.

func (w *world) run(p *corev1.Pod) {
	if p.Status.Phase != corev1.PodPending || p.DeletionTimestamp != nil {
		return
	}
	w.Say("pod %s runs", p.Name)
	w.pods.Change(p, func(p *corev1.Pod) {
		p.Spec.NodeName = "node"
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = append(p.Status.Conditions,
			corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: simulated.Now()})
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c",
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: simulated.Now()}}}}
	})
}

// exit ends the container of a pod that has a node.
func (w *world) exit(p *corev1.Pod, code int32) {
	if ended(p) || p.Spec.NodeName == "" {
		return
	}
	w.Say("pod %s exits with %d", p.Name, code)
	w.pods.Change(p, func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodSucceeded
		if code != 0 {
			p.Status.Phase = corev1.PodFailed
		}
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: simulated.Now()}}
		notReady(p)
	})
}

func notReady(p *corev1.Pod) {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady {
			c.Status, c.LastTransitionTime = corev1.ConditionFalse, simulated.Now()
		}
	}
}

// restart is a failure that the kubelet makes good by itself.
func (w *world) restart(p *corev1.Pod) {
	if p.Spec.RestartPolicy != corev1.RestartPolicyOnFailure || p.Status.Phase != corev1.PodRunning {
		return
	}
	w.Say("the container of pod %s is restarted", p.Name)
	w.pods.Change(p, func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount++ })
}

func disrupted(p *corev1.Pod) {
	p.Status.Conditions = append(p.Status.Conditions,
		corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: simulated.Now()})
}

// evict is a kubelet that is short of something.
func (w *world) evict(p *corev1.Pod) {
	if ended(p) || p.Spec.NodeName == "" {
		return
	}
	w.Say("pod %s is evicted", p.Name)
	w.pods.Change(p, func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodFailed
		disrupted(p)
		notReady(p)
	})
}

// preempt announces the disruption and deletes the pod.
func (w *world) preempt(p *corev1.Pod) {
	if ended(p) || p.DeletionTimestamp != nil {
		return
	}
	w.Say("pod %s is preempted", p.Name)
	w.pods.Change(p, disrupted)
	w.deletePod(p, grace)
}

func (w *world) deletePod(p *corev1.Pod, seconds int64) {
	w.Say("pod %s is deleted with a grace of %d s", p.Name, seconds)
	_ = w.pods.Delete(namespace, p.Name, p.UID, client.DeleteOptions{GracePeriodSeconds: &seconds})
}

// loseNode is a pod whose node is gone: the pod garbage collector declares it failed and deletes it by force.
func (w *world) loseNode(p *corev1.Pod) {
	if p.Spec.NodeName == "" {
		return
	}
	w.Say("the node of pod %s is gone", p.Name)
	if !ended(p) {
		w.pods.Change(p, func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodFailed
			disrupted(p)
		})
	}
	w.deletePod(p, 0)
}

// reap is a kubelet that deletes what has been told to end, and has; and the pod garbage collector, which declares failed
// what was told to end before it had a node.
func (w *world) reap(p *corev1.Pod) {
	if p.DeletionTimestamp != nil && !ended(p) && p.Spec.NodeName == "" {
		w.Say("pod %s never had a node", p.Name)
		w.pods.Change(p, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
		return
	}
	if p.DeletionTimestamp != nil && ended(p) && *p.DeletionGracePeriodSeconds > 0 {
		w.deletePod(p, 0)
	}
}

// collectGarbage goes once over everything, as the garbage collector of a cluster.
func (w *world) collectGarbage() {
	for _, p := range w.pods.All() {
		ref := metav1.GetControllerOfNoCopy(p)
		if ref == nil || ref.Kind != "Job" {
			continue
		}
		j := w.job(ref.Name)
		switch {
		case j == nil || j.UID != ref.UID || slices.Contains(j.Finalizers, metav1.FinalizerDeleteDependents):
			if p.DeletionTimestamp == nil {
				w.Say("the garbage collector deletes pod %s", p.Name)
				_ = w.pods.Delete(namespace, p.Name, p.UID, client.DeleteOptions{})
			}
		case slices.Contains(j.Finalizers, metav1.FinalizerOrphanDependents):
			w.Say("the garbage collector orphans pod %s", p.Name)
			w.pods.Change(p, func(p *corev1.Pod) { p.OwnerReferences = nil })
		}
	}
	for _, s := range w.slices.All() {
		if j := w.job(s.OwnerReferences[0].Name); j == nil || j.UID != s.OwnerReferences[0].UID {
			_ = w.slices.Delete(namespace, s.Name, s.UID, client.DeleteOptions{})
		}
	}
	for _, j := range w.jobs.All() {
		w.letJobGo(j)
	}
}

// letJobGo ends a deletion whose pods are gone or orphaned.
func (w *world) letJobGo(j *batchv1.Job) {
	if j.DeletionTimestamp == nil || w.hasPods(j) {
		return
	}
	w.Say("Job %s is gone", j.Name)
	w.jobs.Change(j, func(j *batchv1.Job) { j.Finalizers = nil })
}

func (w *world) hasPods(owner metav1.Object) (has bool) {
	for _, p := range w.pods.All() {
		ref := metav1.GetControllerOfNoCopy(p)
		has = has || (ref != nil && ref.UID == owner.GetUID())
	}
	return has
}
