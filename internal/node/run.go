package node

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/podstatus"
)

// Run runs the node until ctx ends. Containers of pods run on then, and the next Run manages them again.
func (n *Node) Run(ctx context.Context) error {
	if err := n.begin(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	var parts, last sync.WaitGroup
	for _, run := range []func(context.Context){
		n.alarm.Run, n.listen, n.registration.run, n.disk.run, n.eviction.run, n.pulls.run, n.feed.run,
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

// begin registers the node, and returns when it knows its pods and their containers.
func (n *Node) begin(ctx context.Context) error {
	n.disk.begin(ctx)
	if err := n.registration.register(ctx); err != nil {
		return err
	}
	n.disk.recordPressure("")
	if !cache.WaitFor(ctx, "", n.synced...) {
		return ctx.Err()
	}
	close(n.podsKnown)
	return n.recover(ctx)
}

// recover reads the runtime's attempts before any pod is synced. Attempts without a pod get an entry too, through which
// they are stopped.
func (n *Node) recover(ctx context.Context) error {
	attempts, err := n.Runtime.List(ctx)
	if err != nil {
		return fmt.Errorf("node: list the containers of the runtime: %w", err)
	}
	for _, s := range attempts {
		p := n.pods.getOrAdd(s.PodUID)
		p.addRuntimeStatus(s)
		if api := n.cachedPod(s); api != nil {
			n.observePod(api) // Its status may be final, but its containers still get their grace period.
		}
		p.mu.Lock()
		p.absent = p.absent || p.api == nil
		p.mu.Unlock()
		n.workers.wake(s.PodUID)
	}
	n.reserveStarted(attempts)
	n.keepAddresses()
	n.finishDeletions(ctx)
	return n.removeLeftoverDirs()
}

// reserveStarted lets no other pod have the resources, and the ReadWriteOncePod claims, of pods that have started: by their status
// or, if the node died before that was stored, by their attempts.
func (n *Node) reserveStarted(attempts []runtime.Status) {
	started := sets.New[types.UID]()
	for _, s := range attempts {
		started.Insert(s.PodUID)
	}
	for _, obj := range n.Client.Pods().Informer().GetStore().List() {
		api := obj.(*corev1.Pod)
		isStarted := started.Has(api.UID) || api.Spec.NodeName == n.Name() && api.Status.StartTime != nil
		if isStarted && !podstatus.IsTerminal(api.Status.Phase) {
			n.scheduler.reserve(api)
		}
	}
}

// keepAddresses lets no other pod have the address of a pod of an earlier run.
func (n *Node) keepAddresses() {
	for _, obj := range n.Client.Pods().Informer().GetStore().List() {
		api := obj.(*corev1.Pod)
		if api.Spec.NodeName == n.Name() && (!podstatus.IsTerminal(api.Status.Phase) || n.pods.get(api.UID) != nil) {
			n.networks.keep(api)
		}
	}
}

// removeLeftoverDirs removes the folders of pods that terminated or were deleted while the node did not run.
func (n *Node) removeLeftoverDirs() error {
	exists, active := map[types.UID]bool{}, map[types.UID]bool{}
	for _, obj := range n.Client.Pods().Informer().GetStore().List() {
		pod := obj.(*corev1.Pod)
		exists[pod.UID], active[pod.UID] = true, !podstatus.IsTerminal(pod.Status.Phase)
	}
	knownOr := func(uids map[types.UID]bool) func(types.UID) bool {
		return func(uid types.UID) bool { return uids[uid] || n.pods.get(uid) != nil }
	}
	if err := errors.Join(n.dirs.removeLeftovers(knownOr(active)), n.logRetention.Recover(knownOr(exists))); err != nil {
		return fmt.Errorf("node: find left-over folders: %w", err)
	}
	return nil
}

// cachedPod returns the cached pod of an attempt, or nil.
func (n *Node) cachedPod(s runtime.Status) *corev1.Pod {
	obj, _, err := n.Client.Pods().Informer().GetStore().GetByKey(s.PodNamespace + "/" + s.PodName)
	if api, ok := obj.(*corev1.Pod); err == nil && ok && api.UID == s.PodUID {
		return api
	}
	return nil
}

// listen observes the exits of containers.
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
			n.observeExit(s)
		}
	}
}

func (n *Node) observeExit(s runtime.Status) {
	if p := n.pods.get(s.PodUID); p != nil {
		p.addRuntimeStatus(s)
		n.workers.wake(s.PodUID)
	}
}

// finishDeletions deletes the pods whose deletion was cut off: the API server first sets the grace period to 0, and
// then deletes. If it is killed between the two, nothing else would delete the pod.
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

// deletionCutOff reports whether only the last step of the pod's deletion is missing.
func deletionCutOff(api *corev1.Pod) bool {
	return api.DeletionTimestamp != nil && !awaitsRemoval(api) && len(api.Finalizers) == 0
}
