// Package persistentvolume binds claims to volumes, provisions local volumes for claims, and reclaims the volumes of claims
// that are gone.
//
//	informers ──► queue of claims and volumes ──► decide on the cached state: anything to do?
//	                                                      │ yes
//	                                              decide on the live state ──► apply
//
// The cached state only says when to look. What is written is decided on a live read, and a volume is given to a claim only in
// the version that names no other.
package persistentvolume

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/claimusers"
	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/persistentvolume"
)

// workers is enough for the store to write the bindings of many claims in batches.
const workers = 16

// Client is the part of the API that the Controller uses.
type Client interface {
	PersistentVolumes() client.Resource[*corev1.PersistentVolume]
	PersistentVolumeClaims() client.Resource[*corev1.PersistentVolumeClaim]
	StorageClasses() client.Resource[*storagev1.StorageClass]
	Pods() client.Resource[*corev1.Pod]
	Nodes() client.Resource[*corev1.Node]
}

// Provisioner makes and removes the directories of local volumes, each by the name of its volume. Both may be called again
// for a volume that is already made or removed.
type Provisioner interface {
	Make(ctx context.Context, volume string) error
	Remove(ctx context.Context, volume string) error
	// Path is where the directory of a volume is.
	Path(volume string) string
	// NodeName is the name of the node that has the directories.
	NodeName() string
}

// Options are for New.
type Options struct {
	// LocalClasses are served as local, whatever their provisioner is.
	LocalClasses core.LocalClasses
	// Provisioner is nil on a server without a node.
	Provisioner Provisioner
	// Clock is the real clock if nil.
	Clock clock.WithTicker
}

// Controller binds the claims of one API server.
type Controller struct {
	volumes     client.Resource[*corev1.PersistentVolume]
	claims      client.Resource[*corev1.PersistentVolumeClaim]
	classes     client.Resource[*storagev1.StorageClass]
	nodes       client.Resource[*corev1.Node]
	users       claimusers.Index
	local       core.LocalClasses
	provisioner Provisioner
	recorder    record.EventRecorder
	loop        *loop.Loop
	told        told
	busy        busy
	choices     choices
}

// New watches claims, volumes and what they depend on. The informers may be started after it returns.
func New(c Client, recorder record.EventRecorder, o Options) *Controller {
	b := &Controller{volumes: c.PersistentVolumes(), claims: c.PersistentVolumeClaims(), classes: c.StorageClasses(), nodes: c.Nodes(),
		local: o.LocalClasses, provisioner: o.Provisioner, recorder: recorder, loop: loop.New("volumes", o.Clock),
		told: newTold(), busy: newBusy(), choices: newChoices()}
	b.index(c.Pods().Informer())
	b.watch(c.Pods().Informer())
	return b
}

// Run binds claims until ctx ends.
func (b *Controller) Run(ctx context.Context) error { return b.loop.Run(ctx, workers, b.sync) }

// sync syncs a claim, or a volume, which has no namespace.
func (b *Controller) sync(ctx context.Context, key types.NamespacedName) (err error) {
	kind := "claim"
	if key.Namespace == "" {
		kind, err = "volume", b.syncVolume(ctx, key)
	} else {
		err = b.syncClaim(ctx, key)
	}
	if err != nil && ctx.Err() == nil && !isRoutine(err) {
		klog.FromContext(ctx).Error(err, "A volume or claim is retried", kind, key)
	}
	return err
}

// isRoutine reports whether err only means that something else was faster, as the informers will show.
func isRoutine(err error) bool {
	return errors.Is(err, errBusy) || errors.Is(err, core.ErrTaken) || apierrors.IsConflict(err) || apierrors.IsNotFound(err)
}
