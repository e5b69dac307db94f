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
	"github.com/stint-dev/stint/internal/node/trash"
)

// DefaultLimit is how many bytes of logs of deleted pods are kept where nothing else is asked for.
const DefaultLimit int64 = 1 << 30

// Keeper keeps the logs of deleted pods for as long as their Jobs exist and all of them together stay within a bound.
//
//	a pod is deleted ───────────┐                 ┌─ its Job exists: mark the folder, count it, drop the oldest
//	start: a folder has no pod ─┼──▶ queue ──▶ ───┤
//	a Job is deleted ───────────┘                 └─ it does not: drop
//
// What is known of a kept log stands in its folder, so a start finds it again; a pod that is there costs nothing. Only
// the worker of the queue touches kept and what follows it.
type Keeper struct {
	Config
	dir   string
	queue workqueue.TypedInterface[task]
	trash *trash.Can

	kept index
	// dropped is the end of the last pod whose log was dropped; see readDropped.
	dropped time.Time
	// counted: the folders that the node has found at its start are among kept.
	counted bool
}

// Config is what a Keeper needs.
type Config struct {
	Jobs client.Resource[*batchv1.Job]
	// Limit bounds the logs that are kept, in bytes; 0 keeps none.
	Limit int64
	// Frozen: this node came to end pods only, and has not been told the limit.
	Frozen bool
	// Linger is how long what belongs to no Job stays all the same, for those who are about to read its last lines.
	Linger time.Duration
	// LeaveWithin bounds how long logs are removed after the node has been told to stop.
	LeaveWithin time.Duration
}

// task is one of: a folder to decide on, a Job that is gone, or nothing: all that was found at the start is in the queue.
type task struct {
	folder string
	// mark is empty where the folder was found.
	mark mark
	gone types.UID
}

// NewKeeper makes the keeper of a store's logs.
func NewKeeper(s *Store, c Config) *Keeper {
	return &Keeper{Config: c, dir: s.dir, queue: workqueue.NewTyped[task](), trash: trash.New(s.dir, c.LeaveWithin, nil), kept: newIndex()}
}

// PodDeleted decides what becomes of the logs of a deleted pod. It may be called more than once for a pod, which may end
// only later.
func (k *Keeper) PodDeleted(pod *corev1.Pod) {
	folder := folderOf(pod.Namespace, pod.Name, pod.UID)
	if mark, ok := markFor(pod); ok && (k.Limit > 0 || k.Frozen) {
		k.queue.Add(task{folder: folder, mark: mark})
		return
	}
	k.trash.Add(folder, now().Add(k.Linger))
}

// PodVanished is PodDeleted for a pod of which only the name is known.
func (k *Keeper) PodVanished(namespace, name string, uid types.UID) {
	k.queue.Add(task{folder: folderOf(namespace, name, uid)})
}

// Recover decides on the folders of an earlier run whose pods do not exist any more.
func (k *Keeper) Recover(exists func(types.UID) bool) error {
	entries, err := os.ReadDir(k.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if _, _, uid := splitFolder(e.Name()); e.IsDir() && !exists(uid) {
			k.queue.Add(task{folder: e.Name()})
		}
	}
	k.queue.Add(task{})
	return nil
}

// JobHandler takes in that Jobs are deleted.
func (k *Keeper) JobHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
		if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = last.Obj
		}
		if job, ok := obj.(*batchv1.Job); ok {
			k.queue.Add(task{gone: job.UID})
		}
	}}
}

// Close has Run return once it has dealt with all that it was told.
func (k *Keeper) Close() { k.queue.ShutDown() }

// Run works until the keeper is closed. When ctx ends, what was found at the start waits for the next one, and nothing
// lingers any more.
func (k *Keeper) Run(ctx context.Context) {
	var removing sync.WaitGroup
	removing.Go(func() { k.trash.Run(ctx) })
	k.open()
	for {
		t, down := k.queue.Get()
		if down {
			break
		}
		k.do(ctx, t)
		k.queue.Done(t)
	}
	k.trash.Close()
	removing.Wait()
}

func (k *Keeper) do(ctx context.Context, t task) {
	switch found := t.mark == (mark{}); {
	case t.gone != "":
		k.jobGone(t.gone)
	case t.folder == "":
		k.counted = true
		k.trim()
	case !found:
		k.settle(ctx, t.folder, t.mark, now().Add(k.Linger))
	case ctx.Err() == nil:
		k.restoreLog(ctx, t.folder)
	}
}
