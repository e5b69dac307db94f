package node

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/stint-dev/stint/internal/alarm"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node/containers"
	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/podlogs"
	"github.com/stint-dev/stint/internal/node/prober"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/node/volumes"
	"github.com/stint-dev/stint/internal/podstatus"
)

// podWorkers sync pods: they start and stop containers, and manage all that belongs to a pod from its admission to its
// end. Only one of them at a time syncs a pod, and it alone writes the second group of the pod's fields.
type podWorkers struct {
	queue workqueue.TypedInterface[types.UID]

	node    string
	address string
	client  client.Resource[*corev1.Pod]
	runtime runtime.Runtime
	pods    *pods
	// containers makes containers; dirs and logs are where they leave files.
	containers   *containers.Maker
	dirs         *podDirs
	logs         *podlogs.Store
	logRetention *podlogs.Retention
	scheduler    *scheduler
	configUsers  *configUsers
	alarm        *alarm.Alarm[types.UID]
	status       *statusManager
	events       podEvents
	networks     *podNetworks
	disk         *disk
	prober       *prober.Prober
	shares       *volumes.Shares
	// began is when this node did. Containers that started before are those of an earlier run.
	began time.Time
	// background are the probes and hooks that run.
	background sync.WaitGroup
}

// wake requeues pods.
func (w *podWorkers) wake(uids ...types.UID) {
	for _, uid := range uids {
		w.queue.Add(uid)
	}
}

// run runs so many workers until ctx ends.
func (w *podWorkers) run(ctx context.Context, workers int) {
	var all sync.WaitGroup
	for range workers {
		all.Go(func() { w.work(ctx) })
	}
	<-ctx.Done()
	w.queue.ShutDown()
	all.Wait()
	w.background.Wait()
	w.shares.Wait()
	w.removeEnded()
}

// removeEnded queues the files of pods that have ended, which no worker has removed before the node stops.
func (w *podWorkers) removeEnded() {
	for _, uid := range w.pods.uids() {
		p := w.pods.get(uid)
		api, gone := p.current()
		ended := gone || podstatus.IsTerminal(api.Status.Phase)
		if ended && !p.cleaned && len(p.running())+len(p.starting) == 0 {
			w.dirs.removals.Add(string(uid), time.Time{})
		}
	}
}

func (w *podWorkers) work(ctx context.Context) {
	for {
		uid, down := w.queue.Get()
		if down {
			return
		}
		w.syncOne(ctx, uid)
	}
}

func (w *podWorkers) syncOne(ctx context.Context, uid types.UID) {
	defer w.queue.Done(uid)
	if ctx.Err() != nil {
		return
	}
	if p := w.pods.get(uid); p != nil {
		w.sync(ctx, p)
	}
}

// taken reports whether the pod is this node's: it is bound to it, or has its resources and will be bound.
func (w *podWorkers) taken(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == w.node || w.scheduler.hasReserved(pod.UID)
}

func (w *podWorkers) host(p *pod, pod *corev1.Pod) lifecycle.Host {
	h := lifecycle.Host{IP: w.address, Runtime: runtime.HandlerOf(pod), MountsReadOnly: w.runtime.Info().CanMountReadOnly}
	if p.address.IsValid() {
		h.PodIP = p.address.String()
	}
	return h
}
