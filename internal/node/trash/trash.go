// Package trash removes folders of one directory aside from everything else: a pod may leave many files.
package trash

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/stint-dev/stint/internal/beneath"
)

// Can removes the folders that are thrown into it.
type Can struct {
	dir string
	// leaveWithin bounds how long it goes on after the node has been told to stop.
	leaveWithin time.Duration
	// before is done to a folder before it is removed.
	before func(ctx context.Context, folder string)
	queue  workqueue.TypedInterface[deferredRemoval]
}

// deferredRemoval is a folder to remove, at a time.
type deferredRemoval struct {
	folder string
	at     time.Time
}

// New makes a can for the folders in dir. Before, unless nil, is called with each of them before it is removed.
func New(dir string, leaveWithin time.Duration, before func(ctx context.Context, folder string)) *Can {
	if before == nil {
		before = func(context.Context, string) {}
	}
	return &Can{dir: dir, leaveWithin: leaveWithin, before: before, queue: workqueue.NewTyped[deferredRemoval]()}
}

// Add has a folder be removed, at a time; zero is soon.
func (c *Can) Add(folder string, at time.Time) { c.queue.Add(deferredRemoval{folder, at}) }

// Close has Run return once it has dealt with all that was added.
func (c *Can) Close() { c.queue.ShutDown() }

// Run works until the can is closed. When ctx ends nothing lingers any more; what then takes too long to remove is found
// at the next start.
func (c *Can) Run(ctx context.Context) {
	leaving, cancel := context.WithCancel(context.Background())
	defer cancel()
	context.AfterFunc(ctx, func() { time.AfterFunc(c.leaveWithin, cancel) })
	for {
		r, down := c.queue.Get()
		if down {
			return
		}
		linger(ctx, r.at)
		c.empty(leaving, r.folder)
		c.queue.Done(r)
	}
}

func linger(ctx context.Context, until time.Time) {
	lingers := time.Until(until)
	if lingers <= 0 {
		return
	}
	select {
	case <-time.After(lingers):
	case <-ctx.Done():
	}
}

func (c *Can) empty(leaving context.Context, folder string) {
	if leaving.Err() == nil {
		c.before(leaving, folder)
	}
	if leaving.Err() != nil {
		return
	}
	if err := c.Remove(folder); err != nil {
		slog.Warn("remove what a pod left", "error", err)
	}
}

// Remove removes a folder at once.
func (c *Can) Remove(folder string) error {
	dir, err := beneath.Open(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Remove(folder)
}
