package model_test

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/test/simulated"
)

// This file plays the kubelets, the garbage collector and other controllers of a cluster.

func (w *world) run(p *corev1.Pod) {
	if p.Status.Phase != corev1.PodPending || p.DeletionTimestamp != nil {
		return
	}
	w.Logf("pod %s runs", p.Name)
	w.pods.Change(p, func(p *corev1.Pod) {
		p.Spec.NodeName = "node"
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = append(p.Status.Conditions,
			corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: simulated.Now()})
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c",
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: simulated.Now()}}}}
	})
}

// exit terminates the container of a pod that has a node.
func (w *world) exit(p *corev1.Pod, code int32) {
	if ended(p) || p.Spec.NodeName == "" {
		return
	}
	w.Logf("pod %s exits with %d", p.Name, code)
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

// restart is a failure after which the kubelet restarts the container.
func (w *world) restart(p *corev1.Pod) {
	if p.Spec.RestartPolicy != corev1.RestartPolicyOnFailure || p.Status.Phase != corev1.PodRunning {
		return
	}
	w.Logf("the container of pod %s is restarted", p.Name)
	w.pods.Change(p, func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount++ })
}

func disrupted(p *corev1.Pod) {
	p.Status.Conditions = append(p.Status.Conditions,
		corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: simulated.Now()})
}

// evict is an eviction by a kubelet whose node is short of a resource.
func (w *world) evict(p *corev1.Pod) {
	if ended(p) || p.Spec.NodeName == "" {
		return
	}
	w.Logf("pod %s is evicted", p.Name)
	w.pods.Change(p, func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodFailed
		disrupted(p)
		notReady(p)
	})
}

// preempt sets the condition DisruptionTarget and deletes the pod.
func (w *world) preempt(p *corev1.Pod) {
	if ended(p) || p.DeletionTimestamp != nil {
		return
	}
	w.Logf("pod %s is preempted", p.Name)
	w.pods.Change(p, disrupted)
	w.deletePod(p, grace)
}

func (w *world) deletePod(p *corev1.Pod, seconds int64) {
	w.Logf("pod %s is deleted with a grace of %d s", p.Name, seconds)
	_ = w.pods.Delete(namespace, p.Name, p.UID, client.DeleteOptions{GracePeriodSeconds: &seconds})
}

// removeNode removes the node of a pod: the pod garbage collector sets the pod's phase to Failed and force-deletes it.
func (w *world) removeNode(p *corev1.Pod) {
	if p.Spec.NodeName == "" {
		return
	}
	w.Logf("the node of pod %s is gone", p.Name)
	if !ended(p) {
		w.pods.Change(p, func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodFailed
			disrupted(p)
		})
	}
	w.deletePod(p, 0)
}

// reap removes a deleted pod that has terminated, as its kubelet does. If a pod was deleted before it had a node, reap
// sets its phase to Failed, as the pod garbage collector does.
func (w *world) reap(p *corev1.Pod) {
	if p.DeletionTimestamp != nil && !ended(p) && p.Spec.NodeName == "" {
		w.Logf("pod %s never had a node", p.Name)
		w.pods.Change(p, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
		return
	}
	if p.DeletionTimestamp != nil && ended(p) && *p.DeletionGracePeriodSeconds > 0 {
		w.deletePod(p, 0)
	}
}

// collectGarbage does for every object once what the garbage collector of a cluster does.
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
				w.Logf("the garbage collector deletes pod %s", p.Name)
				_ = w.pods.Delete(namespace, p.Name, p.UID, client.DeleteOptions{})
			}
		case slices.Contains(j.Finalizers, metav1.FinalizerOrphanDependents):
			w.Logf("the garbage collector orphans pod %s", p.Name)
			w.pods.Change(p, func(p *corev1.Pod) { p.OwnerReferences = nil })
		}
	}
	for _, s := range w.slices.All() {
		if j := w.job(s.OwnerReferences[0].Name); j == nil || j.UID != s.OwnerReferences[0].UID {
			_ = w.slices.Delete(namespace, s.Name, s.UID, client.DeleteOptions{})
		}
	}
	for _, j := range w.jobs.All() {
		w.removeJobFinalizers(j)
	}
}

// removeJobFinalizers removes the finalizers of a deleted Job once its pods are removed or orphaned.
func (w *world) removeJobFinalizers(j *batchv1.Job) {
	if j.DeletionTimestamp == nil || w.hasPods(j) {
		return
	}
	w.Logf("Job %s is gone", j.Name)
	w.jobs.Change(j, func(j *batchv1.Job) { j.Finalizers = nil })
}

func (w *world) hasPods(owner metav1.Object) (has bool) {
	for _, p := range w.pods.All() {
		ref := metav1.GetControllerOfNoCopy(p)
		has = has || (ref != nil && ref.UID == owner.GetUID())
	}
	return has
}
