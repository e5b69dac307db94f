package podlogs

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"

	core "github.com/stint-dev/stint/internal/job"
)

// jobExists reports whether the Job of a log exists and is not being deleted.
func (r *Retention) jobExists(ctx context.Context, folder string, owner logOwner) bool {
	if owner.JobUID == "" {
		return false
	}
	namespace, _, _ := splitFolder(folder)
	is := func(job *batchv1.Job) bool { return job.UID == owner.JobUID && job.DeletionTimestamp == nil }
	if job := r.cachedJob(namespace, owner.Job); job != nil && is(job) {
		return true
	}
	// The informer of Jobs may be behind that of pods.
	job, err := r.Jobs.Get(context.WithoutCancel(ctx), namespace, owner.Job)
	if err != nil {
		return !apierrors.IsNotFound(err)
	}
	return is(job)
}

func (r *Retention) cachedJob(namespace, name string) *batchv1.Job {
	obj, ok, err := r.Jobs.Informer().GetStore().GetByKey(cache.NewObjectName(namespace, name).String())
	if err != nil || !ok {
		return nil
	}
	return obj.(*batchv1.Job)
}

// guessJob finds the Job of a log by the name that the controller gave the pod: JOB-RANDOM or JOB-INDEX-RANDOM. The
// result is empty if no Job matches.
func (r *Retention) guessJob(folder string) logOwner {
	info, err := os.Stat(filepath.Join(r.dir, folder))
	if err != nil {
		return logOwner{}
	}
	namespace, pod, _ := splitFolder(folder)
	name, _ := cutLast(pod)
	shorter, index := cutLast(name)
	for _, c := range []struct {
		job, index string
		mode       batchv1.CompletionMode
	}{{name, "", batchv1.NonIndexedCompletion}, {shorter, index, batchv1.IndexedCompletion}} {
		job := r.cachedJob(namespace, c.job)
		// A log that is older than the Job is of an earlier Job of the same name.
		if job == nil || info.ModTime().Before(job.CreationTimestamp.Time) || core.ModeOf(job) != c.mode {
			continue
		}
		return logOwner{Job: job.Name, JobUID: job.UID, Index: c.index, Ended: info.ModTime().UTC().Truncate(time.Second)}
	}
	return logOwner{}
}

func cutLast(name string) (before, after string) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return "", name
	}
	return name[:i], name[i+1:]
}
