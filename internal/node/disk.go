package node

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/filesystem"
	"github.com/stint-dev/stint/internal/node/diskpressure"
)

// The periods are a kubelet's.
const (
	checkDiskEvery     = 10 * time.Second
	collectImagesEvery = 5 * time.Minute
)

// disk watches the free space of the file systems that pods need. If there is too little, it removes the volumes of pods that have
// ended, then images, and then reports disk pressure.
type disk struct {
	node   string
	dirs   []string
	images *imageGC
	// freeEnded removes the volumes of pods that have ended.
	freeEnded func(context.Context)
	// checkEvery is the period of the checks.
	checkEvery time.Duration
	// asked receives a value when a check is due at once.
	asked chan struct{}
	// report writes the Node.
	report func(context.Context) error
	// event records an event about the Node.
	event func(kind, reason, message string)
	// largest names what takes the space.
	largest *largest

	// reported is the pressure that the Node's condition shows. Only begin and run use it.
	reported diskpressure.Pressure

	mu sync.Mutex
	// pressure is the message of the condition DiskPressure; empty if there is none.
	pressure string
}

func (d *disk) currentPressure() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pressure
}

func (d *disk) setPressure(pressure string) (changed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	changed = d.pressure != pressure
	d.pressure = pressure
	return changed
}

// begin checks the disks before the Node is written for the first time.
func (d *disk) begin(ctx context.Context) {
	d.reported = d.check(ctx)
	d.setPressure(d.reported.Message)
}

// run checks the disks and removes images until ctx ends. No pod waits for it.
func (d *disk) run(ctx context.Context) {
	check, collect := time.NewTicker(d.checkEvery), time.NewTicker(collectImagesEvery)
	defer check.Stop()
	defer collect.Stop()
	defer d.largest.ended.Wait()
	d.images.collect(ctx)
	for {
		d.reportDiskPressure(ctx)
		select {
		case <-ctx.Done():
			return
		case <-check.C:
		case <-d.asked:
		case <-collect.C:
			d.images.collect(ctx)
		case <-d.images.pulled:
			d.images.collect(ctx)
		}
	}
}

// checkNow has the disks checked at once.
func (d *disk) checkNow() {
	select {
	case d.asked <- struct{}{}:
	default:
	}
}

// freed has the disks checked at once if pods wait for room, as there may be some now.
func (d *disk) freed() {
	if d.currentPressure() != "" {
		d.checkNow()
	}
}

// full has the disks checked, as something has failed with err for lack of space. It returns an error that says what is free. If no disk is
// short, err is about another limit of the kernel, and is returned as it is.
func (d *disk) full(err error) error {
	d.checkNow()
	systems, unknown := d.fileSystems()
	short := slices.IndexFunc(systems, func(f diskpressure.FileSystem) bool { return f.Space.IsShort() })
	if unknown != nil || short < 0 {
		return err
	}
	return fmt.Errorf("there is no space on a disk (%s are free on the file system of %s): %w",
		filesystem.Text(systems[short].Space.BytesAvailable), systems[short].Dir, err)
}

// reportDiskPressure writes the Node when disk pressure begins or ends, or when something else takes the space. Before that, it
// makes room.
func (d *disk) reportDiskPressure(ctx context.Context) {
	d.makeRoom(ctx)
	before, now := d.currentPressure(), d.check(ctx)
	if !d.setPressure(now.Message + d.names(ctx, now)) {
		return
	}
	if err := d.report(ctx); err != nil {
		d.setPressure(before) // so that the next check reports it again
		warn(ctx, "report disk pressure", err)
		return
	}
	d.reported = now
	d.recordPressure(before)
	d.largest.tell()
}

// makeRoom removes what no pod uses any more: the volumes of those that have ended, and then images.
func (d *disk) makeRoom(ctx context.Context) {
	if d.isShort(ctx) {
		d.freeEnded(ctx)
	}
	if !d.reported.IsThere() && d.check(ctx).IsThere() {
		d.images.collect(ctx)
	}
}

// names returns the end of the condition's message. Pods and claims are on the file system of the data directory.
func (d *disk) names(ctx context.Context, now diskpressure.Pressure) string {
	if !now.Bytes || now.Dir != d.dirs[0] {
		d.largest.forget()
		return ""
	}
	return d.largest.names(ctx, now.Space.Bytes)
}

// recordPressure records an event if pressure has begun or ended, or if something else takes the space.
func (d *disk) recordPressure(before string) {
	status := fmt.Sprintf("Node %s status is now: ", d.node)
	switch now := d.currentPressure(); {
	case now == "" && before != "":
		d.event(corev1.EventTypeNormal, "NodeHasNoDiskPressure", status+"NodeHasNoDiskPressure")
	case now != before:
		d.event(corev1.EventTypeWarning, "NodeHasDiskPressure", status+"NodeHasDiskPressure: "+now)
	}
}

// check returns what is short. If the space of a file system cannot be read, that is what was reported before.
func (d *disk) check(ctx context.Context) diskpressure.Pressure {
	systems, err := d.fileSystems()
	if err != nil {
		warn(ctx, "read the free disk space", err)
		return d.reported
	}
	return diskpressure.Check(d.reported.IsThere(), systems)
}

// isShort reports whether a file system needs room. That may be before there is pressure, if it is a small one.
func (d *disk) isShort(ctx context.Context) bool {
	systems, err := d.fileSystems()
	return err == nil && slices.ContainsFunc(systems, func(f diskpressure.FileSystem) bool { return f.Space.IsShort() }) ||
		d.check(ctx).IsThere()
}

func (d *disk) fileSystems() (systems []diskpressure.FileSystem, err error) {
	for _, dir := range d.dirs {
		space, err := filesystem.SpaceOf(dir)
		if err != nil {
			return nil, err
		}
		systems = append(systems, diskpressure.FileSystem{Dir: dir, Space: space})
	}
	return systems, nil
}

// condition returns the Node's condition DiskPressure.
func (d *disk) condition() corev1.NodeCondition {
	c := corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse,
		Reason: "KubeletHasNoDiskPressure", Message: "there is room on the file systems of the data directory and of the images"}
	if why := d.currentPressure(); why != "" {
		c.Status, c.Reason, c.Message = corev1.ConditionTrue, "KubeletHasDiskPressure", why
	}
	return c
}
