package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/image/pull"
	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/internal/node/config"
	"github.com/stint-dev/stint/internal/node/downward"
	"github.com/stint-dev/stint/internal/node/env"
	"github.com/stint-dev/stint/internal/node/images"
	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/node/volumes"
)

// Config is what a node needs.
type Config struct {
	// Name of the node; empty is the name it had before, or else the machine's host name.
	Name   string
	Client client.Interface
	// Runtime runs the containers. It stays the caller's to close.
	Runtime runtime.Runtime
	// Dir holds the pods' volumes and logs.
	Dir string
	// Images holds the images that containers run from; nil has none run from one, for the reason WhyNoImages.
	Images      *store.Store
	WhyNoImages string
	// ImageGC says when images are removed; the zero policy is the default.
	ImageGC store.GCPolicy
	// Allocatable bounds what pods may request together: cpu, memory, ephemeral-storage, pods. What it leaves out is the machine's.
	Allocatable corev1.ResourceList
	// KeepLogs bounds in bytes the logs of deleted pods that are kept while their Jobs exist; nil is DefaultKeepLogs, 0
	// keeps none.
	KeepLogs *int64
	// Recorder takes events; nil drops them.
	Recorder record.EventRecorder
	// Version is reported as the node's.
	Version string
	// Environ is the environment of which containers get a small part; nil is this process's. See package env.
	Environ []string
	// Cordoned has the node take no new pods, whatever its object says: it only sees to those that run.
	Cordoned bool
	// Workers is how many pods are looked at side by side; 0 is 32. Most of a worker's time is waiting for the
	// runtime and the store.
	Workers int

	times times
}

// times are those that tests change; a zero one is the constant of that name.
type times struct{ reportAfter, leaveWithin, logsLinger, lookAtDisk, measureEvery time.Duration }

func (t times) complete() times {
	return times{
		reportAfter:  cmp.Or(t.reportAfter, reportAfter),
		leaveWithin:  cmp.Or(t.leaveWithin, leaveWithin),
		logsLinger:   cmp.Or(t.logsLinger, logsLinger),
		lookAtDisk:   cmp.Or(t.lookAtDisk, lookAtDisk),
		measureEvery: cmp.Or(t.measureEvery, measureEvery),
	}
}

// Node runs pods.
type Node struct {
	Config
	*Logs
	name        string
	allocatable corev1.ResourceList
	address     string
	isolation   runtime.Info

	queue  workqueue.TypedInterface[types.UID]
	trash  workqueue.TypedInterface[rubbish]
	keeper *keeper
	alarms *alarms
	// missing tells that the node's object may have been deleted.
	missing chan struct{}
	// pulling gets a value when a pull begins.
	pulling chan struct{}
	pods    pods
	placer  *placer
	uses    uses
	images  *images.Manager
	filters filters
	disk    disk
	env     env.Resolver
	vols    volumes.Maker
	synced  []cache.InformerSynced
}

// New prepares a node. Its event handlers are in place when New returns, so the informers may be started then.
func New(c Config) (*Node, error) {
	if c.Client == nil || c.Runtime == nil || c.Dir == "" {
		return nil, errors.New("node: Client, Runtime and Dir must be set")
	}
	if c.Recorder == nil {
		c.Recorder = silent{}
	}
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	if c.Workers == 0 {
		c.Workers = 32
	}
	c.times = c.times.complete()
	c.ImageGC = cmp.Or(c.ImageGC, store.DefaultGCPolicy())
	name, err := nameFor(c.Name, c.Dir)
	if err != nil {
		return nil, err
	}
	allocatable, err := allocatableFor(c.Allocatable, c.Dir)
	if err != nil {
		return nil, err
	}
	n := &Node{
		Config:      c,
		name:        name,
		allocatable: allocatable,
		address:     address(),
		isolation:   c.Runtime.Info(),
		queue:       workqueue.NewTyped[types.UID](),
		trash:       workqueue.NewTyped[rubbish](),
		pods:        pods{byUID: map[types.UID]*pod{}},
		placer:      newPlacer(allocatable, c.Cordoned),
		missing:     make(chan struct{}, 1),
		pulling:     make(chan struct{}, 1),
		disk:        disk{pulled: make(chan struct{}, 1)},
	}
	n.keeper = newKeeper(c, n.trash.Add)
	n.Logs = &Logs{dir: c.Dir, pods: &n.pods}
	n.alarms = newAlarms(n.queue.Add)
	n.filters.dir = c.Dir
	if c.Images != nil {
		n.images = images.New(pull.Client(), c.Images, n.imagePulled, n.announcePull)
	}
	facts := downward.Facts{NodeName: n.name, IP: n.address, Allocatable: n.allocatable}
	configs := config.Reader{Client: c.Client}
	n.env = env.Resolver{Configs: configs, Facts: facts, Base: env.Base(c.Environ)}
	n.vols = volumes.Maker{Configs: configs, Facts: facts}
	err = n.watch()
	n.Logs.synced = n.synced
	return n, err
}

// Name is the name of the node's object.
func (n *Node) Name() string { return n.name }

func (n *Node) watch() error {
	for _, w := range []struct {
		what     string
		informer cache.SharedIndexInformer
		handler  cache.ResourceEventHandler
	}{
		{"pods", n.Client.Pods().Informer(), n.podHandler()},
		{"nodes", n.Client.Nodes().Informer(), n.nodeHandler()},
		{"jobs", n.Client.Jobs().Informer(), n.keeper.jobHandler()},
		{"configmaps", n.Client.ConfigMaps().Informer(), n.useHandler(false)},
		{"secrets", n.Client.Secrets().Informer(), n.useHandler(true)},
	} {
		registration, err := w.informer.AddEventHandler(w.handler)
		if err != nil {
			return fmt.Errorf("node: watch %s: %w", w.what, err)
		}
		n.synced = append(n.synced, registration.HasSynced)
	}
	return nil
}

func (n *Node) host(api *corev1.Pod) lifecycle.Host {
	return lifecycle.Host{IP: n.address, Runtime: runtime.HandlerOf(api)}
}

func (n *Node) log(ctx context.Context, what string, err error, attributes ...any) {
	if ctx.Err() == nil {
		slog.WarnContext(ctx, what, append(attributes, "error", err)...)
	}
}

// now is the one place where the node asks the clock for its decisions.
func now() time.Time { return time.Now() }
