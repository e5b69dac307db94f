package node

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/filesystem"
	"github.com/stint-dev/stint/internal/image/store"
)

// imageGC removes images that have not been used for long, when images take too much space.
type imageGC struct {
	// store is nil if containers cannot run from images.
	store  *store.Store
	policy store.GCPolicy
	// inUse returns the names of images that must stay.
	inUse func() []string
	// event records an event about the Node.
	event func(kind, reason, message string)
	// pulled receives a value when the store has a new image.
	pulled chan struct{}
	// warned is the reason of the last warning; empty once a collection has succeeded.
	warned string
}

// collect removes images, and records a warning if that was not enough.
func (gc *imageGC) collect(ctx context.Context) {
	if gc.store == nil {
		return
	}
	c, err := gc.store.Collect(ctx, gc.policy, gc.inUse())
	if ctx.Err() != nil {
		return
	}
	if len(c.Images) > 0 {
		gc.event(corev1.EventTypeNormal, "ImagesRemoved", "removed images that were not used for long: "+strings.Join(c.Images, ", "))
	}
	switch {
	case err != nil:
		gc.warnOnce("ImageGCFailed", "unused images could not be removed: "+err.Error())
	case c.Lacking > 0:
		gc.warnOnce("FreeDiskSpaceFailed", "no image is left that may be removed, and the images of "+gc.store.Dir()+
			" take more than --image-store-limit, or their file system is fuller than --image-gc-high-threshold: "+
			filesystem.Text(c.Lacking)+" too much")
	default:
		gc.warned = ""
	}
}

// warnOnce records a warning, but not again until the reason has changed or a collection has succeeded.
func (gc *imageGC) warnOnce(reason, message string) {
	if gc.warned != reason {
		gc.event(corev1.EventTypeWarning, reason, message)
	}
	gc.warned = reason
}

// added triggers a collection after a pull.
func (gc *imageGC) added() {
	select {
	case gc.pulled <- struct{}{}:
	default:
	}
}
