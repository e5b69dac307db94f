package node

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// Run runs the node until ctx ends. Containers of pods run on then, and the next Run takes them back.
func (n *Node) Run(ctx context.Context) error {
	n.disk.change(n.judgeDisk(ctx, ""))
	if err := n.register(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	n.tellPressure("")
	if !cache.WaitForCacheSync(ctx.Done(), n.synced...) {
		return nil
	}
	if err := n.recover(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	var parts, keeping, sweeping sync.WaitGroup
	parts.Go(func() { n.alarms.run(ctx) })
	parts.Go(func() { n.listen(ctx) })
	parts.Go(func() { n.heartbeat(ctx) })
	parts.Go(func() { n.tendDisk(ctx) })
	parts.Go(func() { n.tendLocalStorage(ctx) })
	parts.Go(func() { n.tellPulls(ctx) })
	keeping.Go(func() { n.keeper.run(ctx) })
	sweeping.Go(func() { n.sweepTrash(ctx) })
	for range n.Workers {
		parts.Go(func() { n.work(ctx) })
	}
	<-ctx.Done()
	n.queue.ShutDown()
	parts.Wait()
	n.leave(ctx)
	n.keeper.queue.ShutDown()
	keeping.Wait()
	n.trash.ShutDown()
	sweeping.Wait()
	return nil
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
		p.hear(s)
		if api := n.shown(s); api != nil {
			n.podSeen(api) // It may have ended for the API server, and its containers get their grace all the same.
		}
		p.mu.Lock()
		p.absent = p.absent || p.api == nil
		p.mu.Unlock()
		n.queue.Add(s.PodUID)
	}
	n.finishDeletions(ctx)
	return n.sweepDirs()
}

// shown is the pod of an attempt as the informer shows it, or nil.
func (n *Node) shown(s runtime.Status) *corev1.Pod {
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
		p.hear(s)
		n.queue.Add(s.PodUID)
	}
}

func (n *Node) work(ctx context.Context) {
	for {
		uid, down := n.queue.Get()
		if down {
			return
		}
		n.syncOne(ctx, uid)
	}
}

func (n *Node) syncOne(ctx context.Context, uid types.UID) {
	defer n.queue.Done(uid)
	if ctx.Err() != nil {
		return
	}
	if p := n.pods.get(uid); p != nil {
		n.sync(ctx, p)
	}
}
