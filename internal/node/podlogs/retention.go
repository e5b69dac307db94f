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

// DefaultLimit is how many bytes of logs of deleted pods are retained by default.
const DefaultLimit int64 = 1 << 30

// Retention keeps the logs of deleted pods for as long as their Jobs exist, up to a limit for all of them together.
//
//	a pod is deleted ───────────┐                 ┌─ its Job exists: write the owner, count the log, remove the oldest
//	start: a folder has no pod ─┼──▶ queue ──▶ ───┤
//	a Job is deleted ───────────┘                 └─ it does not: remove
//
// The owner of a retained log is stored in its folder, so the next start finds it again. Logs of pods that exist are
// not tracked. Only the worker of the queue uses retained and the fields after it.
type Retention struct {
	RetentionConfig
	dir      string
	queue    workqueue.TypedInterface[task]
	removals *removal.Queue

	retained index
	// dropped is when the pod whose log was removed last terminated; see readDropped.
	dropped time.Time
	// counted: retained includes the folders that the node found at its start.
	counted bool
}

// RetentionConfig is what a Retention needs.
type RetentionConfig struct {
	Jobs client.Resource[*batchv1.Job]
	// Limit bounds the logs that are retained, in bytes; 0 retains none.
	Limit int64
	// Cordoned: this node takes no new pods, and does not know the limit.
	Cordoned bool
	// RemovalDelay is how long the logs of a deleted pod stay even without a Job, so that clients can read their last
	// lines.
	RemovalDelay time.Duration
	// StopTimeout bounds how long logs are still removed after ctx of Run has ended.
	StopTimeout time.Duration
}

// task is one of: a folder to decide about, a Job that was deleted, or neither, which means that all folders found at
// the start have been queued before.
type task struct {
	folder string
	// owner is empty if the folder was found, or its pod vanished.
	owner      logOwner
	deletedJob types.UID
}

// NewRetention makes the log retention of a store.
func NewRetention(s *Store, c RetentionConfig) *Retention {
	return &Retention{RetentionConfig: c, dir: s.dir, queue: workqueue.NewTyped[task](), removals: removal.New(s.dir, c.StopTimeout, nil), retained: newIndex()}
}

// PodDeleted queues the logs of a deleted pod for retention or removal. It may be called more than once for a pod,
// whose containers may exit later.
func (r *Retention) PodDeleted(pod *corev1.Pod) {
	folder := folderOf(pod.Namespace, pod.Name, pod.UID)
	if owner, ok := ownerOf(pod); ok && (r.Limit > 0 || r.Cordoned) {
		r.queue.Add(task{folder: folder, owner: owner})
		return
	}
	r.removals.Add(folder, now().Add(r.RemovalDelay))
}

// PodVanished is PodDeleted for a pod of which only the name and UID are known.
func (r *Retention) PodVanished(namespace, name string, uid types.UID) {
	r.queue.Add(task{folder: folderOf(namespace, name, uid)})
}

// Recover queues the folders of an earlier run whose pods do not exist any more.
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

// JobHandler observes the deletion of Jobs.
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

// Close makes Run return once it has processed the queue.
func (r *Retention) Close() { r.queue.ShutDown() }

// Run processes the queue until Close. After ctx has ended, folders that were found at the start are left to the next
// start, and removals are no longer delayed.
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
