package node

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/stint-dev/stint/internal/client"
)

// DefaultKeepLogs is how many bytes of logs of deleted pods are kept where nobody says otherwise.
const DefaultKeepLogs int64 = 1 << 30

// keeper keeps the logs of deleted pods for as long as their Jobs exist and all of them together stay within a bound.
//
//	a pod is deleted ───────────┐                 ┌─ its Job exists: mark the folder, count it, drop the oldest
//	start: a folder has no pod ─┼──▶ queue ──▶ ───┤
//	a Job is deleted ───────────┘                 └─ it does not: drop
//
// What is known of a kept log stands in its folder, so a start finds it again; a pod that is there costs nothing. Only
// the worker of the queue touches what follows it.
type keeper struct {
	dir   string
	limit int64
	// frozen: this node came to end pods only, and has not been told the bound.
	frozen bool
	jobs   client.Resource[*batchv1.Job]
	drop   func(rubbish)
	// linger is how long what belongs to no Job stays all the same.
	linger time.Duration
	queue  workqueue.TypedInterface[keepTask]

	kept   map[string]*keptLog
	ofJob  map[types.UID]map[*keptLog]bool
	oldest keptHeap
	bytes  int64
	// dropped is the end of the last pod whose log was dropped; see readDropped.
	dropped time.Time
	// counted: the folders that the node has found at its start are among kept.
	counted bool
}

// keepTask is one of: a folder to decide on, a Job that is gone, or nothing: all that was found at the start is told.
type keepTask struct {
	folder string
	// mark is empty where the folder was found.
	mark keepMark
	gone types.UID
}

func newKeeper(c Config, drop func(rubbish)) *keeper {
	k := &keeper{
		dir:    filepath.Join(c.Dir, logsDir),
		limit:  DefaultKeepLogs,
		frozen: c.Cordoned,
		jobs:   c.Client.Jobs(),
		drop:   drop,
		linger: c.times.logsLinger,
		queue:  workqueue.NewTyped[keepTask](),
		kept:   map[string]*keptLog{},
		ofJob:  map[types.UID]map[*keptLog]bool{},
	}
	if c.KeepLogs != nil {
		k.limit = *c.KeepLogs
	}
	return k
}

// leaveLogs decides what becomes of the logs of a deleted pod. It may be told more than once, of a pod that still ends.
func (n *Node) leaveLogs(api *corev1.Pod) {
	folder := filepath.Base(n.logDir(api.Namespace, api.Name, api.UID))
	if mark, ok := markFor(api); ok && (n.keeper.limit > 0 || n.keeper.frozen) {
		n.keeper.queue.Add(keepTask{folder: folder, mark: mark})
		return
	}
	n.trash.Add(rubbish{logsDir, folder, now().Add(n.times.logsLinger)})
}

// leaveLogsOf is leaveLogs for a pod that may be known from the runtime only.
func (n *Node) leaveLogsOf(p *pod, api *corev1.Pod) {
	if api != nil {
		n.leaveLogs(api)
		return
	}
	for _, h := range p.containers {
		if h.Last != nil {
			dir := n.logDir(h.Last.PodNamespace, h.Last.PodName, p.uid)
			n.keeper.queue.Add(keepTask{folder: filepath.Base(dir)})
			return
		}
	}
}

func (k *keeper) jobHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
		if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = last.Obj
		}
		if job, ok := obj.(*batchv1.Job); ok {
			k.queue.Add(keepTask{gone: job.UID})
		}
	}}
}

// run works until the queue is shut down. What was found at the start can wait for the next one.
func (k *keeper) run(ctx context.Context) {
	k.open()
	for {
		t, down := k.queue.Get()
		if down {
			return
		}
		switch found := t.mark == (keepMark{}); {
		case t.gone != "":
			k.jobGone(t.gone)
		case t.folder == "":
			k.counted = true
			k.trim()
		case !found:
			k.settle(ctx, t.folder, t.mark, now().Add(k.linger))
		case ctx.Err() == nil:
			k.recall(ctx, t.folder)
		}
		k.queue.Done(t)
	}
}

// recall decides on a folder that was found.
func (k *keeper) recall(ctx context.Context, folder string) {
	mark, err := readMark(filepath.Join(k.dir, folder))
	if err != nil {
		// Its pod went while nobody looked, or the node died before it could say so.
		mark = k.guess(folder)
	}
	k.settle(ctx, folder, mark, time.Time{})
}

// settle keeps a folder, or drops it at a time.
func (k *keeper) settle(ctx context.Context, folder string, mark keepMark, dropAt time.Time) {
	if !k.lives(ctx, folder, mark) {
		k.drop(rubbish{logsDir, folder, dropAt})
		return
	}
	size, err := measure(filepath.Join(k.dir, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return // It printed nothing.
	}
	if err == nil {
		err = writeMark(filepath.Join(k.dir, folder), mark)
	}
	if err != nil {
		slog.Warn("keep the log of a deleted pod", "folder", folder, "error", err)
	}
	k.add(&keptLog{folder: folder, mark: mark, bytes: size, dropAfter: dropAt})
	k.trim()
}

// lives tells whether the Job of a log exists and is to stay.
func (k *keeper) lives(ctx context.Context, folder string, mark keepMark) bool {
	if mark.JobUID == "" {
		return false
	}
	namespace, _ := splitFolder(folder)
	is := func(job *batchv1.Job) bool { return job.UID == mark.JobUID && job.DeletionTimestamp == nil }
	if job := k.known(namespace, mark.Job); job != nil && is(job) {
		return true
	}
	// The informer of Jobs may be behind that of pods.
	job, err := k.jobs.Get(context.WithoutCancel(ctx), namespace, mark.Job)
	if err != nil {
		return !apierrors.IsNotFound(err)
	}
	return is(job)
}

func (k *keeper) known(namespace, name string) *batchv1.Job {
	obj, ok, err := k.jobs.Informer().GetStore().GetByKey(cache.NewObjectName(namespace, name).String())
	if err != nil || !ok {
		return nil
	}
	return obj.(*batchv1.Job)
}

func (k *keeper) jobGone(uid types.UID) {
	for kept := range k.ofJob[uid] {
		k.remove(kept)
		k.drop(rubbish{of: logsDir, folder: kept.folder})
	}
}

func jobOf(api *corev1.Pod) *metav1.OwnerReference {
	owner := metav1.GetControllerOf(api)
	if owner == nil || owner.Kind != "Job" || owner.APIVersion != batchv1.SchemeGroupVersion.String() {
		return nil
	}
	return owner
}
