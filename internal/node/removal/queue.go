// Package removal removes folders of one directory in the background, as a pod may leave many files, and at a given
// time, as clients may still read them.
package removal

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/stint-dev/stint/internal/beneath"
)

// Queue removes the folders that are added to it.
type Queue struct {
	dir string
	// stopTimeout bounds how long folders are still removed after ctx of Run has ended.
	stopTimeout time.Duration
	// before is called with a folder before it is removed.
	before func(ctx context.Context, folder string)
	queue  workqueue.TypedInterface[deferredRemoval]
}

// deferredRemoval is a folder to remove, at a time.
type deferredRemoval struct {
	folder string
	at     time.Time
}

// New makes a queue for the folders in dir. Before, unless nil, is called with each of them before it is removed.
func New(dir string, leaveWithin time.Duration, before func(ctx context.Context, folder string)) *Queue {
	if before == nil {
		before = func(context.Context, string) {}
	}
	return &Queue{dir: dir, stopTimeout: leaveWithin, before: before, queue: workqueue.NewTyped[deferredRemoval]()}
}

// Add queues a folder to be removed at a time; zero is at once.
func (q *Queue) Add(folder string, at time.Time) { q.queue.Add(deferredRemoval{folder, at}) }

// Close makes Run return once it has processed all that was added.
func (q *Queue) Close() { q.queue.ShutDown() }

// Run removes folders until Close. After ctx has ended it no longer waits for their times, and what it cannot remove
// within stopTimeout is left for the next start.
func (q *Queue) Run(ctx context.Context) {
	stopping, cancel := context.WithCancel(context.Background())
	defer cancel()
	context.AfterFunc(ctx, func() { time.AfterFunc(q.stopTimeout, cancel) })
	for {
		r, down := q.queue.Get()
		if down {
			return
		}
		waitUntil(ctx, r.at)
		q.remove(stopping, r.folder)
		q.queue.Done(r)
	}
}

func waitUntil(ctx context.Context, until time.Time) {
	remaining := time.Until(until)
	if remaining <= 0 {
		return
	}
	select {
	case <-time.After(remaining):
	case <-ctx.Done():
	}
}

func (q *Queue) remove(stopping context.Context, folder string) {
	if stopping.Err() == nil {
		q.before(stopping, folder)
	}
	if stopping.Err() != nil {
		return
	}
	if err := q.Remove(stopping, folder); err != nil && stopping.Err() == nil {
		slog.Warn("remove the folder of a pod", "error", err)
	}
}

// Remove removes a folder at once. What is left of it when ctx ends can be removed later.
func (q *Queue) Remove(ctx context.Context, folder string) error {
	dir, err := beneath.Open(q.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Remove(ctx, folder)
}
