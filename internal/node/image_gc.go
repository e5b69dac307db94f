package node

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/filesystem"
	"github.com/stint-dev/stint/internal/image/store"
)

// imageGC removes images that were not used for long, where there are too many.
type imageGC struct {
	// store is nil where containers run from no images.
	store  *store.Store
	policy store.GCPolicy
	// inUse are the names of images that must stay.
	inUse func() []string
	// event records an event of the node.
	event func(kind, reason, message string)
	// pulled gets a value when the store has got a new image.
	pulled chan struct{}
	// warned is the last one about images that could not be removed: it is told once.
	warned string
}

// collect removes images, and tells where that was not enough.
func (gc *imageGC) collect(ctx context.Context) {
	if gc.store == nil {
		return
	}
	c, err := gc.store.Collect(ctx, gc.policy, gc.inUse())
	if ctx.Err() != nil {
		return
	}
	if len(c.Images) > 0 {
		gc.event(corev1.EventTypeNormal, "ImagesRemoved", "were not used for long: "+strings.Join(c.Images, ", "))
	}
	switch {
	case err != nil:
		gc.warnOnce("ImageGCFailed", "images that are not used could not be removed: "+err.Error())
	case c.Lacking > 0:
		gc.warnOnce("FreeDiskSpaceFailed", "no image is left that may be removed, and the images of "+gc.store.Dir()+
			" take more than --image-store-limit, or their file system is fuller than --image-gc-high-threshold: "+
			filesystem.Text(c.Lacking)+" too much")
	default:
		gc.warned = ""
	}
}

// warnOnce tells of trouble once, until it is over.
func (gc *imageGC) warnOnce(reason, message string) {
	if gc.warned != reason {
		gc.event(corev1.EventTypeWarning, reason, message)
	}
	gc.warned = reason
}

// added has images collected that have become too many.
func (gc *imageGC) added() {
	select {
	case gc.pulled <- struct{}{}:
	default:
	}
}
