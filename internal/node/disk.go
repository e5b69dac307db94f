package node

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/filesystem"
	"github.com/stint-dev/stint/internal/node/diskpressure"
)

// As often as a kubelet.
const (
	lookAtDisk    = 10 * time.Second
	collectImages = 5 * time.Minute
)

// disk is what the node knows of the file systems that its pods need.
type disk struct {
	// pulled tells that the store has got a new image.
	pulled chan struct{}
	// complaint is the last one about images that could not be removed: it is told once.
	complaint string

	mu sync.Mutex
	// pressure is why the node takes no pods; empty if it does.
	pressure string
}

func (d *disk) underPressure() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pressure
}

func (d *disk) change(pressure string) (changed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	changed = d.pressure != pressure
	d.pressure = pressure
	return changed
}

// tendDisk keeps room on the file systems until ctx ends. No pod waits for it.
func (n *Node) tendDisk(ctx context.Context) {
	look, collect := time.NewTicker(n.times.lookAtDisk), time.NewTicker(collectImages)
	defer look.Stop()
	defer collect.Stop()
	n.collectImages(ctx)
	for {
		n.relieve(ctx)
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		case <-collect.C:
			n.collectImages(ctx)
		case <-n.disk.pulled:
			n.collectImages(ctx)
		}
	}
}

// relieve reports pressure when it begins and ends. Before it is reported, images are removed.
func (n *Node) relieve(ctx context.Context) {
	before := n.disk.underPressure()
	if before == "" && n.judgeDisk(ctx, "") != "" {
		n.collectImages(ctx)
	}
	if !n.disk.change(n.judgeDisk(ctx, before)) {
		return
	}
	if err := n.register(ctx); err != nil {
		n.disk.change(before) // to be tried again
		n.log(ctx, "report the pressure of disks", err)
		return
	}
	n.tellPressure(before)
}

func (n *Node) tellPressure(before string) {
	switch now := n.disk.underPressure(); {
	case now == "" && before != "":
		n.Recorder.Eventf(n.reference(), corev1.EventTypeNormal, "NodeHasNoDiskPressure", "Node %s status is now: NodeHasNoDiskPressure", n.name)
	case now != "" && before == "":
		n.Recorder.Eventf(n.reference(), corev1.EventTypeWarning, "NodeHasDiskPressure", "Node %s status is now: NodeHasDiskPressure: %s", n.name, now)
	}
}

// judgeDisk returns why the node is under pressure. A file system that cannot be looked at changes nothing.
func (n *Node) judgeDisk(ctx context.Context, before string) string {
	dirs := []string{n.Dir}
	if n.Images != nil {
		dirs = append(dirs, n.Images.Dir())
	}
	var systems []diskpressure.FileSystem
	for _, dir := range dirs {
		space, err := filesystem.SpaceOf(dir)
		if err != nil {
			n.log(ctx, "look at the disk", err)
			return before
		}
		systems = append(systems, diskpressure.FileSystem{Dir: dir, Space: space})
	}
	return diskpressure.Judge(before != "", systems)
}

// reference is the node as events know it.
func (n *Node) reference() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.name, UID: types.UID(n.name)}}
}

func (n *Node) diskPressure() corev1.NodeCondition {
	c := corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse,
		Reason: "KubeletHasNoDiskPressure", Message: "there is room on the file systems of the data directory and of the images"}
	if why := n.disk.underPressure(); why != "" {
		c.Status, c.Reason, c.Message = corev1.ConditionTrue, "KubeletHasDiskPressure", why
	}
	return c
}
