package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/filesystem"
	"github.com/stint-dev/stint/internal/node/diskpressure"
)

// As often as a kubelet.
const (
	lookAtDisk    = 10 * time.Second
	collectImages = 5 * time.Minute
)

// disk keeps room on the file systems that the node's pods need, and knows where there is none.
type disk struct {
	node   string
	dirs   []string
	images *imageGC
	// lookEvery is how often it looks.
	lookEvery time.Duration
	// report has the node's object say how it is.
	report func(context.Context) error
	// event records an event of the node.
	event func(kind, reason, message string)

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

// run keeps room until ctx ends. No pod waits for it.
func (d *disk) run(ctx context.Context) {
	look, collect := time.NewTicker(d.lookEvery), time.NewTicker(collectImages)
	defer look.Stop()
	defer collect.Stop()
	d.images.collect(ctx)
	for {
		d.reportDiskPressure(ctx)
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		case <-collect.C:
			d.images.collect(ctx)
		case <-d.images.pulled:
			d.images.collect(ctx)
		}
	}
}

// reportDiskPressure reports pressure when it begins and ends. Before it is reported, images are removed.
func (d *disk) reportDiskPressure(ctx context.Context) {
	before := d.underPressure()
	if before == "" && d.judge(ctx, "") != "" {
		d.images.collect(ctx)
	}
	if !d.change(d.judge(ctx, before)) {
		return
	}
	if err := d.report(ctx); err != nil {
		d.change(before) // to be tried again
		warn(ctx, "report the pressure of disks", err)
		return
	}
	d.tell(before)
}

// tell writes an event where pressure has begun or ended.
func (d *disk) tell(before string) {
	status := fmt.Sprintf("Node %s status is now: ", d.node)
	switch now := d.underPressure(); {
	case now == "" && before != "":
		d.event(corev1.EventTypeNormal, "NodeHasNoDiskPressure", status+"NodeHasNoDiskPressure")
	case now != "" && before == "":
		d.event(corev1.EventTypeWarning, "NodeHasDiskPressure", status+"NodeHasDiskPressure: "+now)
	}
}

// judge returns why the node is under pressure. A file system that cannot be looked at changes nothing.
func (d *disk) judge(ctx context.Context, before string) string {
	var systems []diskpressure.FileSystem
	for _, dir := range d.dirs {
		space, err := filesystem.SpaceOf(dir)
		if err != nil {
			warn(ctx, "look at the disk", err)
			return before
		}
		systems = append(systems, diskpressure.FileSystem{Dir: dir, Space: space})
	}
	return diskpressure.Check(before != "", systems)
}

// condition is that of the node's object.
func (d *disk) condition() corev1.NodeCondition {
	c := corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse,
		Reason: "KubeletHasNoDiskPressure", Message: "there is room on the file systems of the data directory and of the images"}
	if why := d.underPressure(); why != "" {
		c.Status, c.Reason, c.Message = corev1.ConditionTrue, "KubeletHasDiskPressure", why
	}
	return c
}
