package model_test

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// What kubelets, the garbage collector and other controllers of a cluster do.

func (w *world) run(p *corev1.Pod) {
	if p.Status.Phase != corev1.PodPending || p.DeletionTimestamp != nil {
		return
	}
	w.say("pod %s runs", p.Name)
	w.server.setPod(p, func(p *corev1.Pod) {
		p.Spec.NodeName = "node"
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = append(p.Status.Conditions,
			corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now()})
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c",
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now()}}}}
	})
}

// exit ends the container of a pod that has a node.
func (w *world) exit(p *corev1.Pod, code int32) {
	if ended(p) || p.Spec.NodeName == "" {
		return
	}
	w.say("pod %s exits with %d", p.Name, code)
	w.server.setPod(p, func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodSucceeded
		if code != 0 {
			p.Status.Phase = corev1.PodFailed
		}
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: now()}}
		notReady(p)
	})
}

func notReady(p *corev1.Pod) {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady {
			c.Status, c.LastTransitionTime = corev1.ConditionFalse, now()
		}
	}
}

// restart is a failure that the kubelet makes good by itself.
func (w *world) restart(p *corev1.Pod) {
	if p.Spec.RestartPolicy != corev1.RestartPolicyOnFailure || p.Status.Phase != corev1.PodRunning {
		return
	}
	w.say("the container of pod %s is restarted", p.Name)
	w.server.setPod(p, func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount++ })
}

func disrupted(p *corev1.Pod) {
	p.Status.Conditions = append(p.Status.Conditions,
		corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: now()})
}

// evict is a kubelet that is short of something.
func (w *world) evict(p *corev1.Pod) {
	if ended(p) || p.Spec.NodeName == "" {
		return
	}
	w.say("pod %s is evicted", p.Name)
	w.server.setPod(p, func(p *corev1.Pod) {
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
	w.say("pod %s is preempted", p.Name)
	w.server.setPod(p, disrupted)
	w.deletePod(p, grace)
}

func (w *world) deletePod(p *corev1.Pod, seconds int64) {
	w.say("pod %s is deleted with a grace of %d s", p.Name, seconds)
	_ = w.server.deletePod(p.Name, p.UID, seconds)
}

// loseNode is a pod whose node is gone: the pod garbage collector declares it failed and deletes it by force.
func (w *world) loseNode(p *corev1.Pod) {
	if p.Spec.NodeName == "" {
		return
	}
	w.say("the node of pod %s is gone", p.Name)
	if !ended(p) {
		w.server.setPod(p, func(p *corev1.Pod) {
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
		w.say("pod %s never had a node", p.Name)
		w.server.setPod(p, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
		return
	}
	if p.DeletionTimestamp != nil && ended(p) && *p.DeletionGracePeriodSeconds > 0 {
		w.deletePod(p, 0)
	}
}

// collectGarbage goes once over everything, as the garbage collector of a cluster.
func (w *world) collectGarbage() {
	w.server.pods.each(func(p *corev1.Pod) {
		ref := metav1.GetControllerOfNoCopy(p)
		if ref == nil || ref.Kind != "Job" {
			return
		}
		j := w.server.jobs.objects[ref.Name]
		switch {
		case j == nil || j.UID != ref.UID || slices.Contains(j.Finalizers, metav1.FinalizerDeleteDependents):
			if p.DeletionTimestamp == nil {
				w.say("the garbage collector deletes pod %s", p.Name)
				_ = w.server.deletePod(p.Name, p.UID, grace)
			}
		case slices.Contains(j.Finalizers, metav1.FinalizerOrphanDependents):
			w.say("the garbage collector orphans pod %s", p.Name)
			w.server.setPod(p, func(p *corev1.Pod) { p.OwnerReferences = nil })
		}
	})
	w.server.slices.each(func(s *stintv1.ResultSlice) {
		if j := w.server.jobs.objects[s.OwnerReferences[0].Name]; j == nil || j.UID != s.OwnerReferences[0].UID {
			w.server.slices.drop(w.server.next(s.DeepCopy()), s)
		}
	})
	for _, name := range w.server.jobs.names() {
		w.letJobGo(name)
	}
}

// letJobGo ends a deletion whose pods are gone or orphaned.
func (w *world) letJobGo(name string) {
	j := w.server.jobs.objects[name]
	if j.DeletionTimestamp == nil || w.hasPods(j) {
		return
	}
	w.say("Job %s is gone", name)
	is := j.DeepCopy()
	is.Finalizers = nil
	w.server.putJob(j, is)
}

func (w *world) hasPods(owner metav1.Object) (has bool) {
	w.server.pods.each(func(p *corev1.Pod) {
		ref := metav1.GetControllerOfNoCopy(p)
		has = has || (ref != nil && ref.UID == owner.GetUID())
	})
	return has
}
