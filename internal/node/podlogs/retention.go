package podlogs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node/removal"
)

// DefaultLimit is how many bytes of logs of deleted pods are kept where nothing else is asked for.
const DefaultLimit int64 = 1 << 30

// Retention keeps the logs of deleted pods for as long as their Jobs exist and all of them together stay within a bound.
//
//	a pod is deleted ───────────┐                 ┌─ its Job exists: mark the folder, count it, drop the oldest
//	start: a folder has no pod ─┼──▶ queue ──▶ ───┤
//	a Job is deleted ───────────┘                 └─ it does not: drop
//
// What is known of a kept log stands in its folder, so a start finds it again; a pod that is there costs nothing. Only
// the worker of the queue touches kept and what follows it.
type Retention struct {
	RetentionConfig
	dir      string
	queue    workqueue.TypedInterface[task]
	removals *removal.Queue

	retained index
	// dropped is the end of the last pod whose log was dropped; see readDropped.
	dropped time.Time
	// counted: the folders that the node has found at its start are among kept.
	counted bool
}

// RetentionConfig is what a Keeper needs.
type RetentionConfig struct {
	Jobs client.Resource[*batchv1.Job]
	// Limit bounds the logs that are kept, in bytes; 0 keeps none.
	Limit int64
	// Frozen: this node came to end pods only, and has not been told the limit.
	Frozen bool
	// RemovalDelay is how long what belongs to no Job stays all the same, for those who are about to read its last lines.
	RemovalDelay time.Duration
	// StopTimeout bounds how long logs are removed after the node has been told to stop.
	StopTimeout time.Duration
}

// task is one of: a folder to decide on, a Job that is gone, or nothing: all that was found at the start is in the queue.
type task struct {
	folder string
	// owner is empty where the folder was found.
	owner      logOwner
	deletedJob types.UID
}

// NewRetention makes the keeper of a store's logs.
func NewRetention(s *Store, c RetentionConfig) *Retention {
	return &Retention{RetentionConfig: c, dir: s.dir, queue: workqueue.NewTyped[task](), removals: removal.New(s.dir, c.StopTimeout, nil), retained: newIndex()}
}

// PodDeleted decides what becomes of the logs of a deleted pod. It may be called more than once for a pod, which may end
// only later.
func (r *Retention) PodDeleted(pod *corev1.Pod) {
	folder := folderOf(pod.Namespace, pod.Name, pod.UID)
	if owner, ok := ownerOf(pod); ok && (r.Limit > 0 || r.Frozen) {
		r.queue.Add(task{folder: folder, owner: owner})
		return
	}
	r.removals.Add(folder, now().Add(r.RemovalDelay))
}

// PodVanished is PodDeleted for a pod of which only the name is known.
func (r *Retention) PodVanished(namespace, name string, uid types.UID) {
	r.queue.Add(task{folder: folderOf(namespace, name, uid)})
}

// Recover decides on the folders of an earlier run whose pods do not exist any more.
func (r *Retention) Recover(exists func(types.UID) bool) error {
	entries, err := os.ReadDir(r.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if _, _, uid := splitFolder(e.Name()); e.IsDir() && !exists(uid) {
			r.queue.Add(task{folder: e.Name()})
		}
	}
	r.queue.Add(task{})
	return nil
}

// JobHandler takes in that Jobs are deleted.
func (r *Retention) JobHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
		if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = last.Obj
		}
		if job, ok := obj.(*batchv1.Job); ok {
			r.queue.Add(task{deletedJob: job.UID})
		}
	}}
}

// Close has Run return once it has dealt with all that it was told.
func (r *Retention) Close() { r.queue.ShutDown() }

// Run works until the keeper is closed. When ctx ends, what was found at the start waits for the next one, and nothing
// lingers any more.
func (r *Retention) Run(ctx context.Context) {
	var removing sync.WaitGroup
	removing.Go(func() { r.removals.Run(ctx) })
	r.recordLimit()
	for {
		t, down := r.queue.Get()
		if down {
			break
		}
		r.do(ctx, t)
		r.queue.Done(t)
	}
	r.removals.Close()
	removing.Wait()
}

func (r *Retention) do(ctx context.Context, t task) {
	switch found := t.owner == (logOwner{}); {
	case t.deletedJob != "":
		r.jobDeleted(t.deletedJob)
	case t.folder == "":
		r.counted = true
		r.trim()
	case !found:
		r.retainOrRemove(ctx, t.folder, t.owner, now().Add(r.RemovalDelay))
	case ctx.Err() == nil:
		r.restoreLog(ctx, t.folder)
	}
}
