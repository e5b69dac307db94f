package node

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/filesystem"
	"github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// collectImages removes images that were not used for long, where there are too many, and tells where that was not enough.
func (n *Node) collectImages(ctx context.Context) {
	if n.Images == nil {
		return
	}
	c, err := n.Images.Collect(ctx, n.ImageGC, n.imagesInUse())
	if ctx.Err() != nil {
		return
	}
	if len(c.Images) > 0 {
		n.Recorder.Event(n.reference(), corev1.EventTypeNormal, "ImagesRemoved", "were not used for long: "+strings.Join(c.Images, ", "))
	}
	switch {
	case err != nil:
		n.complain("ImageGCFailed", "images that are not used could not be removed: "+err.Error())
	case c.Lacking > 0:
		n.complain("FreeDiskSpaceFailed", "no image is left that may be removed, and the images of "+n.Images.Dir()+
			" take more than --image-store-limit, or their file system is fuller than --image-gc-high-threshold: "+
			filesystem.Text(c.Lacking)+" too much")
	default:
		n.disk.complaint = ""
	}
}

// complain tells of trouble once, until it is over.
func (n *Node) complain(reason, message string) {
	if n.disk.complaint != reason {
		n.Recorder.Event(n.reference(), corev1.EventTypeWarning, reason, message)
	}
	n.disk.complaint = reason
}

// imagesInUse are the names of the images of all pods that have not ended, whether they run just now or not.
func (n *Node) imagesInUse() []string {
	asked := map[string]bool{}
	for _, uid := range n.pods.uids() {
		p := n.pods.get(uid)
		if p == nil {
			continue
		}
		api, gone := p.current()
		if api == nil || gone || lifecycle.Final(api.Status.Phase) || runtime.HandlerOf(api) != runtime.ClassOCI {
			continue
		}
		for _, c := range slices.Concat(api.Spec.InitContainers, api.Spec.Containers) {
			asked[c.Image] = true
		}
	}
	var names []string
	for text := range asked {
		if ref, err := registry.Parse(text); err == nil {
			names = append(names, ref.String())
		}
	}
	return names
}

// imageAdded has images collected that have become too many.
func (n *Node) imageAdded() {
	select {
	case n.disk.pulled <- struct{}{}:
	default:
	}
}
