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
	"github.com/stint-dev/stint/internal/node/podlogs"
	"github.com/stint-dev/stint/internal/node/runtime"
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
	// KeepLogs bounds in bytes the logs of deleted pods that are kept while their Jobs exist; nil is podlogs.DefaultLimit,
	// 0 keeps none.
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

// logRemovalDelay is how long the logs of a deleted pod stay for those who were about to read its last lines.
const logRemovalDelay = 10 * time.Second

// timings are those that tests change; a zero one is the constant of that name.
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
