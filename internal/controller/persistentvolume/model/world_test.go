package model_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/apiserver/registry"
	volumeregistry "github.com/stint-dev/stint/internal/apiserver/registry/persistentvolume"
	podregistry "github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/persistentvolume"
	"github.com/stint-dev/stint/internal/controller/volumeprotection"
	core "github.com/stint-dev/stint/internal/persistentvolume"
	"github.com/stint-dev/stint/test/simulated"
)

const (
	namespace = "ns"
	node      = "here"
)

// The classes: both make local volumes at once.
const (
	deleting = "deleting"
	keeping  = "keeping"
	// waiting makes them for the first consumer.
	waiting = "waiting"
)

// world is a server with claims, volumes and pods, and the directories of the volumes.
type world struct {
	*simulated.World
	volumes *simulated.Table[*corev1.PersistentVolume]
	claims  *simulated.Table[*corev1.PersistentVolumeClaim]
	classes *simulated.Table[*storagev1.StorageClass]
	pods    *simulated.Table[*corev1.Pod]
	nodes   *simulated.Table[*corev1.Node]
	*directories
	// bound is the volume that each claim was bound to.
	bound map[types.UID]string
	// broken are the rules that were broken in the middle of a request.
	broken []string
}

func newWorld(sw *simulated.World) *world {
	o := podregistry.Options{}
	w := &world{World: sw,
		volumes: simulated.NewTable[*corev1.PersistentVolume](sw.Server, volumeregistry.Volume(o)),
		claims:  simulated.NewTable[*corev1.PersistentVolumeClaim](sw.Server, volumeregistry.Claim(o)),
		classes: simulated.NewTable[*storagev1.StorageClass](sw.Server, volumeregistry.Class(o)),
		pods:    simulated.NewTable[*corev1.Pod](sw.Server, podregistry.Resource(o)),
		nodes:   simulated.NewTable[*corev1.Node](sw.Server, registry.Node()),
		bound:   map[types.UID]string{},
	}
	w.directories = &directories{world: w, made: map[string]bool{}}
	w.volumes.Wrote, w.claims.Wrote = w.wroteVolume, w.wroteClaim
	w.Describe = w.describe
	w.must(w.nodes.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Labels: map[string]string{corev1.LabelHostname: node}}}))
	for name, policy := range map[string]corev1.PersistentVolumeReclaimPolicy{
		deleting: corev1.PersistentVolumeReclaimDelete, keeping: corev1.PersistentVolumeReclaimRetain, waiting: corev1.PersistentVolumeReclaimDelete,
	} {
		mode := storagev1.VolumeBindingImmediate
		if name == waiting {
			mode = storagev1.VolumeBindingWaitForFirstConsumer
		}
		w.must(w.classes.Create(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: core.Provisioner,
			ReclaimPolicy: &policy, VolumeBindingMode: &mode}))
	}
	return w
}

func (w *world) must(_ any, err error) {
	if err != nil {
		w.Fail("it is not valid: %v", err)
	}
}

// connection is the Client of one process.
type connection struct {
	volumes client.Resource[*corev1.PersistentVolume]
	claims  client.Resource[*corev1.PersistentVolumeClaim]
	classes client.Resource[*storagev1.StorageClass]
	pods    client.Resource[*corev1.Pod]
	nodes   client.Resource[*corev1.Node]
}

func (c connection) PersistentVolumes() client.Resource[*corev1.PersistentVolume] { return c.volumes }
func (c connection) PersistentVolumeClaims() client.Resource[*corev1.PersistentVolumeClaim] {
	return c.claims
}
func (c connection) StorageClasses() client.Resource[*storagev1.StorageClass] { return c.classes }
func (c connection) Pods() client.Resource[*corev1.Pod]                       { return c.pods }
func (c connection) Nodes() client.Resource[*corev1.Node]                     { return c.nodes }

func (w *world) start() {
	w.Start(func(p *simulated.Process) func(context.Context) error {
		c := connection{simulated.Of(p, w.volumes), simulated.Of(p, w.claims), simulated.Of(p, w.classes), simulated.Of(p, w.pods), simulated.Of(p, w.nodes)}
		all := []interface{ Run(context.Context) error }{
			persistentvolume.New(c, p, persistentvolume.Options{Provisioner: w.directories}),
			volumeprotection.NewClaims(c), volumeprotection.NewVolumes(c)}
		return func(ctx context.Context) error {
			failures := make([]error, len(all))
			var running sync.WaitGroup
			for i, r := range all {
				running.Go(func() { failures[i] = r.Run(ctx) })
			}
			running.Wait()
			return errors.Join(failures...)
		}
	})
}

// directories is the Provisioner of all processes.
type directories struct {
	world *world
	mu    sync.Mutex
	made  map[string]bool
	// fails is how many calls fail from now on.
	fails int
}

func (d *directories) Path(name string) string { return "/data/" + name }
func (d *directories) NodeName() string        { return node }

func (d *directories) Make(_ context.Context, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail() {
		return errors.New("the disk is full")
	}
	d.made[name] = true
	return nil
}

// Remove checks what must be true when data is removed.
func (d *directories) Remove(_ context.Context, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if why := d.world.mustStay(name); why != "" && d.made[name] {
		d.world.broken = append(d.world.broken, fmt.Sprintf("the data of %s is removed although %s", name, why))
	}
	if d.fail() {
		return errors.New("a file is busy")
	}
	delete(d.made, name)
	return nil
}

func (d *directories) fail() bool {
	if d.fails == 0 {
		return false
	}
	d.fails--
	return true
}
