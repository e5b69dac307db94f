package podgc

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
	"github.com/stint-dev/stint/internal/podstatus"
)

const (
	// DefaultThreshold is how many terminated pods a server keeps. Each takes some 10 KB of memory.
	DefaultThreshold = 1000
	// quarantine is how long a pod is lost before it is deleted: a Node may be deleted and registered anew.
	quarantine = 40 * time.Second
	// workers is enough for the store to write deletions in batches.
	workers = 16
)

// Client is the part of the API that the Controller uses.
type Client interface {
	Pods() client.Resource[*corev1.Pod]
	Nodes() client.Resource[*corev1.Node]
}

// Options are for New.
type Options struct {
	// Threshold is how many terminated pods may exist; 0 or less keeps all.
	Threshold int
	// Registerer registers the metrics, unless it is nil.
	Registerer prometheus.Registerer
	// Clock is the real clock if nil.
	Clock clock.WithTicker
}

// Controller deletes the pods of one API server that nothing else deletes.
type Controller struct {
	pods      client.Resource[*corev1.Pod]
	nodes     client.Resource[*corev1.Node]
	threshold int
	loop      *loop.Loop
	metrics   metrics

	mu         sync.Mutex
	terminated *byAge
	// excess are the pods that were the oldest of too many, until they are deleted.
	excess sets.Set[types.UID]
}

// New watches pods and nodes of c. The informers may be started after it returns.
func New(c Client, o Options) *Controller {
	g := &Controller{pods: c.Pods(), nodes: c.Nodes(), threshold: o.Threshold, loop: loop.New("pod_gc", o.Clock),
		terminated: newByAge(), excess: sets.New[types.UID]()}
	var err error
	g.metrics, err = newMetrics(o.Registerer)
	g.loop.FailStart(err)
	g.loop.Watch(g.pods.Informer(), loop.Handler(func(was, is *corev1.Pod) {
		if is == nil {
			g.forget(was.UID)
			return
		}
		g.observe(is)
	}))
	g.loop.Watch(g.nodes.Informer(), loop.Handler(func(was, is *corev1.Node) {
		if was == nil || is == nil {
			g.observeAll()
		}
	}))
	return g
}

// Run deletes pods until ctx ends.
func (g *Controller) Run(ctx context.Context) error { return g.loop.Run(ctx, workers, g.sync) }

func (g *Controller) observe(p *corev1.Pod) {
	if Lost(p, g) != Keep {
		g.loop.Queue.AddAfter(loop.Key(p), quarantine)
	}
	if !isBounded(p) {
		g.forget(p.UID)
	} else if g.threshold > 0 {
		g.bound(p)
	}
}

// observeAll looks for pods that have lost their node.
func (g *Controller) observeAll() {
	for _, obj := range g.pods.Informer().GetStore().List() {
		if p := obj.(*corev1.Pod); Lost(p, g) != Keep {
			g.loop.Queue.AddAfter(loop.Key(p), quarantine)
		}
	}
}

// bound adds p to the terminated pods and queues the oldest of them if there are too many. Of the first list, too, which
// is in no order, the newest stay: a pod is queued only if as many as the threshold are newer.
func (g *Controller) bound(p *corev1.Pod) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.excess.Has(p.UID) {
		return
	}
	g.terminated.put(p)
	for _, oldest := range g.terminated.takeBeyond(g.threshold) {
		g.excess.Insert(oldest.UID)
		g.loop.Queue.Add(loop.Key(oldest))
	}
}

func (g *Controller) forget(pod types.UID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.terminated.remove(pod)
	g.excess.Delete(pod)
}

func (g *Controller) sync(ctx context.Context, key types.NamespacedName) error {
	p, why, err := g.find(ctx, key)
	if err != nil || why == Keep {
		return err
	}
	err = g.collect(ctx, p, why)
	g.metrics.count(p.Namespace, why, err)
	if err != nil && ctx.Err() == nil {
		klog.FromContext(ctx).Error(err, "A pod could not be deleted and will be retried", "pod", key, "why", why)
	}
	return err
}

// find returns a pod and why it is to be deleted, Keep if it is not.
func (g *Controller) find(ctx context.Context, key types.NamespacedName) (p *corev1.Pod, why Reason, err error) {
	p = loop.Cached[*corev1.Pod](g.pods.Informer(), key)
	switch {
	case p == nil:
		return nil, Keep, nil
	case g.isExcess(p.UID):
		return p, Terminated, nil
	}
	return g.findLost(ctx, key)
}

func (g *Controller) isExcess(pod types.UID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.excess.Has(pod)
}

// findLost reads the pod and its node live: work is lost if a pod is deleted by mistake.
func (g *Controller) findLost(ctx context.Context, key types.NamespacedName) (p *corev1.Pod, why Reason, err error) {
	p, err = g.pods.Get(ctx, key.Namespace, key.Name)
	if err != nil {
		return nil, Keep, ignoreNotFound("reading", key, err)
	}
	if why = Lost(p, g); why == Orphaned {
		_, err = g.nodes.Get(ctx, "", p.Spec.NodeName)
		if !apierrors.IsNotFound(err) {
			return p, Keep, err
		}
	}
	return p, why, nil
}

// collect deletes p at once. A pod that has not terminated is failed first, so that its Job counts it.
func (g *Controller) collect(ctx context.Context, p *corev1.Pod, why Reason) error {
	if !podstatus.IsTerminated(p) {
		if _, err := g.pods.ModifyStatus(ctx, p, func(p *corev1.Pod) { fail(p, why) }); err != nil {
			return ignoreNotFound("failing", loop.Key(p), err)
		}
	}
	err := g.pods.Delete(ctx, p, client.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})
	return ignoreNotFound("deleting", loop.Key(p), err)
}

func ignoreNotFound(doing string, pod types.NamespacedName, err error) error {
	if err == nil || apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("%s pod %s: %w", doing, pod, err)
}

// Any implements Nodes.
func (g *Controller) Any() bool { return len(g.nodes.Informer().GetStore().ListKeys()) > 0 }

// Has implements Nodes.
func (g *Controller) Has(name string) bool {
	return loop.Cached[*corev1.Node](g.nodes.Informer(), cache.ObjectName{Name: name}) != nil
}
