package node

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/podstatus"
)

// Run runs the node until ctx ends. Containers of pods run on then, and the next Run takes them back.
func (n *Node) Run(ctx context.Context) error {
	if err := n.begin(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	var parts, last sync.WaitGroup
	for _, run := range []func(context.Context){
		n.alarm.Run, n.listen, n.registration.run, n.disk.run, n.eviction.run, n.pulls.run,
		func(ctx context.Context) { n.workers.run(ctx, n.Workers) },
	} {
		parts.Go(func() { run(ctx) })
	}
	last.Go(func() { n.logRetention.Run(ctx) })
	last.Go(func() { n.dirs.removals.Run(ctx) })
	<-ctx.Done()
	parts.Wait()
	n.stopOrphansAtExit(ctx)
	n.logRetention.Close()
	n.dirs.removals.Close()
	last.Wait()
	return nil
}

// begin returns when the node is known to the API server, and knows its pods and their containers.
func (n *Node) begin(ctx context.Context) error {
	n.disk.change(n.disk.judge(ctx, ""))
	if err := n.registration.register(ctx); err != nil {
		return err
	}
	n.disk.tell("")
	if !cache.WaitForCacheSync(ctx.Done(), n.synced...) {
		return ctx.Err()
	}
	return n.recover(ctx)
}

// recover learns what the runtime holds before any pod is looked at. What belongs to no pod gets an entry too, and
// is ended through it.
func (n *Node) recover(ctx context.Context) error {
	attempts, err := n.Runtime.List(ctx)
	if err != nil {
		return fmt.Errorf("node: ask the runtime for its containers: %w", err)
	}
	for _, s := range attempts {
		p := n.pods.getOrAdd(s.PodUID)
		p.addRuntimeStatus(s)
		if api := n.cachedPod(s); api != nil {
			n.podSeen(api) // It may have ended for the API server, and its containers get their grace all the same.
		}
		p.mu.Lock()
		p.absent = p.absent || p.api == nil
		p.mu.Unlock()
		n.workers.wake(s.PodUID)
	}
	n.finishDeletions(ctx)
	return n.recoverDirs()
}

// recoverDirs has removed what pods that have ended or are gone have left, from a time when the node did not see to them.
func (n *Node) recoverDirs() error {
	exists, lives := map[types.UID]bool{}, map[types.UID]bool{}
	for _, obj := range n.Client.Pods().Informer().GetStore().List() {
		pod := obj.(*corev1.Pod)
		exists[pod.UID], lives[pod.UID] = true, !podstatus.IsTerminal(pod.Status.Phase)
	}
	knownOr := func(those map[types.UID]bool) func(types.UID) bool {
		return func(uid types.UID) bool { return those[uid] || n.pods.get(uid) != nil }
	}
	if err := errors.Join(n.dirs.recover(knownOr(lives)), n.logRetention.Recover(knownOr(exists))); err != nil {
		return fmt.Errorf("node: look for left-over folders: %w", err)
	}
	return nil
}

// cachedPod is the pod of an attempt as the informer shows it, or nil.
func (n *Node) cachedPod(s runtime.Status) *corev1.Pod {
	obj, _, err := n.Client.Pods().Informer().GetStore().GetByKey(s.PodNamespace + "/" + s.PodName)
	if api, ok := obj.(*corev1.Pod); err == nil && ok && api.UID == s.PodUID {
		return api
	}
	return nil
}

// listen takes in the ends of containers.
func (n *Node) listen(ctx context.Context) {
	events := n.Runtime.Events()
	for {
		select {
		case <-ctx.Done():
			return
		case s, open := <-events:
			if !open {
				return
			}
			n.ended(s)
		}
	}
}

func (n *Node) ended(s runtime.Status) {
	if p := n.pods.get(s.PodUID); p != nil {
		p.addRuntimeStatus(s)
		n.workers.wake(s.PodUID)
	}
}

// finishDeletions deletes the pods whose deletion was cut off: the API server first notes that there is no grace left,
// and then deletes. What was killed between the two leaves a pod that nothing else would remove.
func (n *Node) finishDeletions(ctx context.Context) {
	at := int64(0)
	for _, obj := range n.Client.Pods().Informer().GetStore().List() {
		api := obj.(*corev1.Pod)
		if !deletionCutOff(api) || api.Spec.NodeName != "" && api.Spec.NodeName != n.Name() {
			continue
		}
		err := n.Client.Pods().Delete(ctx, api, client.DeleteOptions{GracePeriodSeconds: &at})
		if err != nil && !apierrors.IsNotFound(err) {
			warn(ctx, "finish the deletion of a pod", err, "pod", api.Namespace+"/"+api.Name)
		}
	}
}

// deletionCutOff reports whether nothing but the last step is left of the pod's deletion.
func deletionCutOff(api *corev1.Pod) bool {
	return api.DeletionTimestamp != nil && !awaitsRemoval(api) && len(api.Finalizers) == 0
}
