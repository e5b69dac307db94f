package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node/lifecycle"
)

// Kubernetes' own reasons, which pod failure policies and scripts match.
const (
	taintReason   = "DeletionByTaintManager"
	evictionEvent = "TaintManagerEviction"
)

// evict deletes a pod that does not tolerate a NoExecute taint of the node. It returns when that will be due; zero
// means never. As in kube-controller-manager, tolerationSeconds counts from when the taint was first seen.
func (w *podWorkers) evict(ctx context.Context, p *pod, api *corev1.Pod, t time.Time) (due time.Time) {
	taint, after, evicts := w.scheduler.evictingTaint(&api.Spec)
	if !evicts || api.DeletionTimestamp != nil || !w.taken(api) {
		p.taintedSince = time.Time{}
		return time.Time{}
	}
	if p.taintedSince.IsZero() {
		p.taintedSince = t
	}
	if due = p.taintedSince.Add(after); t.Before(due) {
		return due
	}
	message := untolerated(taint)
	if after > 0 {
		message += " for longer than " + after.String()
	}
	if !w.status.write(ctx, p, api, disrupted(message, t)) {
		return p.retryTime()
	}
	w.events.Event(api, corev1.EventTypeNormal, evictionEvent, "deleting the pod: "+message)
	if err := w.client.Delete(ctx, api, client.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		warn(ctx, "evict pod", err, "pod", api.Namespace+"/"+api.Name)
		p.failures++
	}
	return p.retryTime()
}

func untolerated(taint corev1.Taint) string {
	return "the node has the taint " + taint.ToString() + ", which the pod does not tolerate"
}

// disrupted returns a change that adds the condition DisruptionTarget: the pod ends through no fault of its own.
func disrupted(message string, t time.Time) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status = lifecycle.WithCondition(pod.Status, corev1.PodCondition{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: taintReason, Message: message, ObservedGeneration: pod.Generation,
		}, t)
	}
}
