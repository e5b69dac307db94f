package node

import (
	"context"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node/lifecycle"
)

// abandonedGrace is what the containers of a pod get that vanished from the API server: it was deleted with no grace.
const abandonedGrace = 2 * time.Second

// finish deals with a pod that is over as far as the API server is concerned: its final status is stored, or it is
// gone. What still runs is ended, then nothing of the pod is left but its logs.
func (n *Node) finish(ctx context.Context, p *pod, api *corev1.Pod, gone bool) {
	n.free(p)
	if running := p.running(); len(running) > 0 {
		n.abandon(ctx, p, api)
		return
	}
	if !gone && awaitsRemoval(api) && !n.remove(ctx, p, api) {
		return
	}
	if !p.cleaned && !n.clean(ctx, p) {
		return
	}
	p.mu.Lock()
	over := p.absent || p.endSeen
	p.mu.Unlock()
	if over {
		if gone {
			// What the containers printed while they were stopped.
			n.leaveLogsOf(p, api)
		}
		n.alarms.set(p.uid, time.Time{})
		n.uses.remove(api)
		n.pods.drop(p.uid)
	}
}

// abandon stops what runs. The pod is not known where it vanished while no node ran.
func (n *Node) abandon(ctx context.Context, p *pod, api *corev1.Pod) {
	for _, h := range p.running() {
		if !h.StopBy.IsZero() {
			continue
		}
		if err := n.Runtime.Stop(ctx, h.Last.ID, abandonedGrace); err != nil {
			n.log(ctx, "stop container", err, "pod", p.uid, "container", h.Last.Container)
			n.alarms.set(p.uid, now().Add(retryAfter))
			continue
		}
		p.stopping(h.Last.Container, now().Add(abandonedGrace))
		if api != nil {
			n.announce(p, api, []lifecycle.Notice{lifecycle.Killing(h.Last.Container, h.Last.Attempt)})
		}
	}
}

// remove completes the deletion of a pod that has ended.
func (n *Node) remove(ctx context.Context, p *pod, api *corev1.Pod) bool {
	at := int64(0)
	err := n.Client.Pods().Delete(ctx, api, client.DeleteOptions{GracePeriodSeconds: &at})
	if err == nil || apierrors.IsNotFound(err) {
		p.failures = 0
		return true
	}
	n.log(ctx, "delete pod", err, "pod", api.Namespace+"/"+api.Name)
	p.failures++
	n.alarms.set(p.uid, p.retryTime())
	return false
}

// finishDeletions deletes the pods whose deletion was cut off: the API server first notes that there is no grace left,
// and then deletes. What was killed between the two leaves a pod that nothing else would remove.
func (n *Node) finishDeletions(ctx context.Context) {
	at := int64(0)
	for _, obj := range n.Client.Pods().Informer().GetStore().List() {
		api := obj.(*corev1.Pod)
		if !deletionCutOff(api) || api.Spec.NodeName != "" && api.Spec.NodeName != n.name {
			continue
		}
		err := n.Client.Pods().Delete(ctx, api, client.DeleteOptions{GracePeriodSeconds: &at})
		if err != nil && !apierrors.IsNotFound(err) {
			n.log(ctx, "finish the deletion of a pod", err, "pod", api.Namespace+"/"+api.Name)
		}
	}
}

// deletionCutOff reports whether nothing but the last step is left of the pod's deletion.
func deletionCutOff(api *corev1.Pod) bool {
	return api.DeletionTimestamp != nil && !awaitsRemoval(api) && len(api.Finalizers) == 0
}

// clean has runtime and disk forget the pod. Its results are stored, or nobody wants them.
func (n *Node) clean(ctx context.Context, p *pod) bool {
	if ids := p.attempts(); len(ids) > 0 {
		err := n.Runtime.RemovePod(ctx, p.uid, filepath.Join(n.Dir, podsDir, string(p.uid)))
		if err == nil {
			err = n.Runtime.Forget(ctx, ids...)
		}
		if err != nil {
			n.log(ctx, "clean up after pod", err, "pod", p.uid)
			n.alarms.set(p.uid, now().Add(retryAfter))
			return false
		}
	}
	if err := n.removeFolder(podsDir, string(p.uid)); err != nil {
		n.log(ctx, "remove the volumes of a pod", err, "pod", p.uid)
	}
	p.cleaned = true
	return true
}
