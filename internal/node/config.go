package node

import (
	"cmp"
	"errors"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/internal/localvolume"
	"github.com/stint-dev/stint/internal/node/podlogs"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// Config is what a node needs.
type Config struct {
	// Name of the node; empty is the name it had before, or else the machine's host name.
	Name   string
	Client client.Interface
	// Runtime runs the containers. The caller closes it.
	Runtime runtime.Runtime
	// Dir holds the pods' volumes and logs.
	Dir string
	// Volumes has the directories of provisioned PersistentVolumes.
	Volumes localvolume.Dir
	// Images stores the images that containers run from. If it is nil, no container can run from an image, for the
	// reason in WhyNoImages.
	Images      *store.Store
	WhyNoImages string
	// ImageGC says when images are removed; the zero value means store.DefaultGCPolicy.
	ImageGC store.GCPolicy
	// Allocatable is the total that pods may request: cpu, memory, ephemeral-storage, pods. A resource that is not
	// listed defaults to what the machine has, and pods to defaultPods.
	Allocatable corev1.ResourceList
	// KeepLogs bounds in bytes the logs of deleted pods that are kept while their Jobs exist; nil is podlogs.DefaultLimit,
	// 0 keeps none.
	KeepLogs *int64
	// Recorder takes events; nil drops them.
	Recorder record.EventRecorder
	// Version is reported as the Node's kubeletVersion.
	Version string
	// Environ is the environment of which containers inherit a few variables (see package env); nil means that of this
	// process.
	Environ []string
	// Cordoned makes the node take no new pods, even if the Node is not cordoned. Pods that run already are managed as
	// usual.
	Cordoned bool
	// Workers is how many pods are synced at the same time; 0 means 32. Most of a worker's time is waiting for the
	// runtime and the store.
	Workers int

	times timings
}

// complete checks a config and gives it its defaults.
func (c Config) complete() (_ Config, err error) {
	if c.Client == nil || c.Runtime == nil || c.Dir == "" {
		return c, errors.New("node: Client, Runtime and Dir must be set")
	}
	if c.Recorder == nil {
		c.Recorder = discardRecorder{}
	}
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	c.Workers = cmp.Or(c.Workers, 32)
	c.KeepLogs = ptr.To(ptr.Deref(c.KeepLogs, podlogs.DefaultLimit))
	c.times = c.times.complete()
	c.ImageGC = cmp.Or(c.ImageGC, store.DefaultGCPolicy())
	if c.Name, err = nameFor(c.Name, c.Dir); err != nil {
		return c, err
	}
	c.Allocatable, err = allocatableFor(c.Allocatable, c.Dir)
	return c, err
}

// logRemovalDelay is how long the logs of a deleted pod stay, so that clients can still read the last lines.
const logRemovalDelay = 10 * time.Second

// timings can be changed by tests; zero means the constant of the same name.
type timings struct{ reportAfter, stopTimeout, logRemovalDelay, checkDiskEvery, measureEvery time.Duration }

func (t timings) complete() timings {
	return timings{
		reportAfter:     cmp.Or(t.reportAfter, reportAfter),
		stopTimeout:     cmp.Or(t.stopTimeout, stopTimeout),
		logRemovalDelay: cmp.Or(t.logRemovalDelay, logRemovalDelay),
		checkDiskEvery:  cmp.Or(t.checkDiskEvery, checkDiskEvery),
		measureEvery:    cmp.Or(t.measureEvery, measureEvery),
	}
}
