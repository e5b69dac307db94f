package node

import (
	"context"
	"net"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/stint-dev/stint/internal/alarm"
	"github.com/stint-dev/stint/internal/image/pull"
	"github.com/stint-dev/stint/internal/node/claims"
	"github.com/stint-dev/stint/internal/node/config"
	"github.com/stint-dev/stint/internal/node/containers"
	"github.com/stint-dev/stint/internal/node/downward"
	"github.com/stint-dev/stint/internal/node/env"
	"github.com/stint-dev/stint/internal/node/images"
	"github.com/stint-dev/stint/internal/node/podlogs"
	"github.com/stint-dev/stint/internal/node/prober"
	"github.com/stint-dev/stint/internal/node/resourcemetrics"
	"github.com/stint-dev/stint/internal/node/volumes"
)

// build makes the parts of a node whose config is complete.
func (n *Node) build() {
	n.pods, n.configUsers = &pods{byUID: map[types.UID]*pod{}}, &configUsers{}
	n.Logs = podlogs.Of(n.Dir, n.pods, n.podsKnown)
	n.logRetention = podlogs.NewRetention(n.Logs, podlogs.RetentionConfig{Jobs: n.Client.Jobs(), Limit: *n.KeepLogs, Cordoned: n.Cordoned,
		RemovalDelay: n.times.logRemovalDelay, StopTimeout: n.times.stopTimeout})
	n.dirs = newPodDirs(n.Dir, n.Runtime, n.times.stopTimeout)
	var manager *images.Manager
	if n.Images != nil {
		manager = images.New(pull.Client(), n.Images, n.retryStarts, n.recordPull)
	}
	n.networks = newPodNetworks(n.Runtime.Info().PodRange, n.HasServices)
	n.feed = &serviceFeed{runtime: n.Runtime, within: n.ServiceRange, recorder: n.Recorder, changed: make(chan struct{}, 1)}
	n.containerMeter, n.machineMeter = resourcemetrics.New(n.Runtime.ResourceUsage), newMachineMeter()
	ip := address()
	n.buildWorkers(manager, ip)
	n.buildRegistration(manager, ip)
}

// buildWorkers makes the parts that run pods: workers, scheduler, status manager and local storage eviction.
func (n *Node) buildWorkers(manager *images.Manager, ip string) {
	w := &podWorkers{
		queue: workqueue.NewTyped[types.UID](), node: n.Name(), address: ip, client: n.Client.Pods(), runtime: n.Runtime,
		pods: n.pods, configUsers: n.configUsers, dirs: n.dirs, logs: n.Logs, logRetention: n.logRetention, events: podEvents{n.Recorder},
		networks: n.networks, prober: prober.New(n.Runtime.Exec, n.dialer(ip), strings.TrimPrefix(n.Version, "v")), began: now(),
	}
	n.workers, w.shares = w, volumes.NewShares(n.retryStarts)
	n.alarm = alarm.New(func(uid types.UID) { w.wake(uid) }, clock.RealClock{})
	bound := claims.Reader{Client: n.Client, Node: w.node}
	n.scheduler = newScheduler(n.Allocatable, n.Cordoned, w.wake, bound.Unmet)
	w.alarm, w.scheduler = n.alarm, n.scheduler
	w.status = &statusManager{pods: w.client, node: w.node, scheduler: w.scheduler, alarm: w.alarm, events: w.events,
		after: n.times.reportAfter, cordoned: n.Cordoned}
	facts := downward.Facts{NodeName: w.node, IP: ip, Allocatable: n.Allocatable}
	configs := config.Reader{Client: n.Client}
	w.containers = containers.NewMaker(containers.Config{
		Runtime: n.Runtime, Images: manager, WhyNoImages: n.WhyNoImages, DataDir: n.Dir,
		Services: n.feed.allServices,
		Env:      env.Resolver{Configs: configs, Facts: facts, Base: env.Base(n.Environ)},
		Volumes:  volumes.Maker{Configs: configs, Facts: facts, Claims: bound, Local: n.Volumes, Shares: w.shares},
	})
	n.eviction = &localStorageEviction{diskMeter: n.diskMeter(), pods: n.pods, every: n.times.measureEvery, wake: w.wake}
}

func (n *Node) diskMeter() diskMeter {
	return diskMeter{runtime: n.Runtime, dirs: n.dirs, logs: n.Logs}
}

// newLargest makes the part that names what takes the space of a short disk.
func (n *Node) newLargest() *largest {
	holders := &diskHolders{diskMeter: n.diskMeter(), pods: n.pods, volumes: n.Volumes, list: n.persistentVolumes}
	l := &largest{measure: holders.measure, warn: n.workers.warnOf}
	l.forget()
	return l
}

// dialer reaches the pods of this node.
func (n *Node) dialer(machine string) prober.Dialer {
	return prober.Dialer{Machine: machine, Networks: n.networks.pods, Reach: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		return n.Runtime.Dial(ctx, "", to)
	}}
}

// buildRegistration makes the parts that keep the Node, its disks and its images up to date.
func (n *Node) buildRegistration(manager *images.Manager, ip string) {
	reference := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name(), UID: types.UID(n.Name())}}
	event := func(kind, reason, message string) { n.Recorder.Event(reference, kind, reason, message) }
	gc := &imageGC{store: n.Images, policy: n.ImageGC, inUse: n.pods.images, event: event, pulled: make(chan struct{}, 1)}
	n.disk = &disk{node: n.Name(), dirs: []string{n.Dir}, images: gc, checkEvery: n.times.checkDiskEvery, event: event,
		asked: make(chan struct{}, 1), freeEnded: n.workers.freeEnded, largest: n.newLargest()}
	if n.Images != nil {
		n.disk.dirs = append(n.disk.dirs, n.Images.Dir())
	}
	n.workers.disk = n.disk
	n.pulls = &pullProgress{nodes: n.Client.Nodes(), node: n.Name(), images: manager, begun: make(chan struct{}, 1)}
	n.registration = &registration{client: n.Client, name: n.Name(), dir: n.Dir, version: n.Version, address: ip,
		allocatable: n.Allocatable, isolation: n.Runtime.Info(), disk: n.disk, pulls: n.pulls, missing: make(chan struct{}, 1)}
	n.disk.report = n.registration.register
}
