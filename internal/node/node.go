package node

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/alarm"
	"github.com/stint-dev/stint/internal/node/config"
	"github.com/stint-dev/stint/internal/node/podlogs"
	"github.com/stint-dev/stint/internal/node/resourcemetrics"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// Node runs pods. It connects its parts, and observes changes of pods from the API server and the runtime.
type Node struct {
	Config
	// Logs reads what the node's pods have printed.
	Logs *podlogs.Store

	pods         *pods
	configUsers  *configUsers
	scheduler    *scheduler
	alarm        *alarm.Alarm[types.UID]
	workers      *podWorkers
	logRetention *podlogs.Retention
	dirs         *podDirs
	disk         *disk
	eviction     *localStorageEviction
	pulls        *pullProgress
	// containerMeter and machineMeter measure CPU and memory for kubectl top.
	containerMeter *resourcemetrics.Meter[runtime.ID]
	machineMeter   *resourcemetrics.Meter[string]
	registration   *registration
	networks       *podNetworks
	feed           *serviceFeed
	synced         []cache.DoneChecker
	// podsKnown is closed once the event handlers have seen all objects that existed at the start.
	podsKnown chan struct{}
}

// New prepares a node. Its event handlers are in place when New returns, so the informers may be started then.
func New(c Config) (*Node, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	n := &Node{Config: c, podsKnown: make(chan struct{})}
	n.build()
	if err := n.watch(); err != nil {
		return nil, err
	}
	return n, nil
}

// Name is the name of the Node.
func (n *Node) Name() string { return n.Config.Name }

// watched is a kind whose objects the node observes.
type watched struct {
	what     string
	informer cache.SharedIndexInformer
	handler  cache.ResourceEventHandler
}

// feeds are the kinds that pods with networks need, and node ports.
func (n *Node) feeds() []watched {
	if n.HasServices == nil {
		return nil
	}
	n.feed.services, n.feed.slices = n.Client.Services().Informer(), n.Client.EndpointSlices().Informer()
	return []watched{{"services", n.feed.services, n.feed.handler()}, {"endpointslices", n.feed.slices, n.feed.handler()}}
}

func (n *Node) watch() error {
	for _, w := range append(n.feeds(), []watched{
		{"pods", n.Client.Pods().Informer(), n.podHandler()},
		{"nodes", n.Client.Nodes().Informer(), n.nodeHandler()},
		{"jobs", n.Client.Jobs().Informer(), n.logRetention.JobHandler()},
		{"configmaps", n.Client.ConfigMaps().Informer(), n.configHandler(config.ConfigMap)},
		{"secrets", n.Client.Secrets().Informer(), n.configHandler(config.Secret)},
		{"persistentvolumeclaims", n.Client.PersistentVolumeClaims().Informer(), n.claimHandler()},
		{"persistentvolumes", n.Client.PersistentVolumes().Informer(), n.volumeHandler()},
	}...) {
		registration, err := w.informer.AddEventHandler(w.handler)
		if err != nil {
			return fmt.Errorf("node: watch %s: %w", w.what, err)
		}
		n.synced = append(n.synced, registration.HasSyncedChecker())
	}
	return nil
}

// Taken reports whether the pod is this node's: it is bound to it, or has its resources and will be bound.
func (n *Node) Taken(pod *corev1.Pod) bool { return n.workers.taken(pod) }

// warn logs an error, unless ctx has ended, which is then its cause.
func warn(ctx context.Context, what string, err error, attributes ...any) {
	if ctx.Err() == nil {
		slog.WarnContext(ctx, what, append(attributes, "error", err)...)
	}
}

// now is the only place where the node reads the clock for its decisions. It is what the wall clock shows, as the alarm goes by
// that: without a reading of the monotonic clock, which stands still while the machine sleeps. What is measured needs that, and
// asks time.Now.
func now() time.Time { return time.Now().Round(0) }
