package run

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// jobsOf returns the Jobs among the objects.
func jobsOf(objects []*manifest.Object) []*batchv1.Job {
	var jobs []*batchv1.Job
	for _, o := range objects {
		if job, ok := o.Job(); ok {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// asProcesses returns the Jobs whose pods certainly run as processes of this machine. class is the default RuntimeClass, empty
// if unknown. Jobs with a RuntimeClass of the user's own are left out, as only the server knows its handler.
func asProcesses(jobs []*batchv1.Job, class string) []*batchv1.Job {
	return slices.DeleteFunc(slices.Clone(jobs), func(job *batchv1.Job) bool {
		return ptr.Deref(job.Spec.Template.Spec.RuntimeClassName, class) != runtime.ClassProcess
	})
}

// imagesOf lists the images that Jobs name, in the order of their appearance.
func imagesOf(jobs []*batchv1.Job) []string {
	var images []string
	for _, job := range jobs {
		spec := job.Spec.Template.Spec
		for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
			if c.Image != "" && !slices.Contains(images, c.Image) {
				images = append(images, c.Image)
			}
		}
	}
	return images
}

// singlePod reports whether the run has one pod at a time, so that log lines need no prefix.
func singlePod(jobs []*batchv1.Job) bool {
	return len(jobs) == 1 && !atLeast(jobs[0].Spec.Parallelism, 2) && !atLeast(jobs[0].Spec.Completions, 2)
}

func atLeast(n *int32, floor int32) bool {
	return n != nil && *n >= floor
}

// wanted is the number of successes that complete a Job, 0 for a work queue.
func wanted(job *batchv1.Job) int32 {
	if job.Spec.Completions == nil {
		return 0
	}
	return *job.Spec.Completions
}

// grace is the grace period of the pods of a Job.
func grace(job *batchv1.Job) time.Duration {
	if seconds := job.Spec.Template.Spec.TerminationGracePeriodSeconds; seconds != nil {
		return time.Duration(*seconds) * time.Second
	}
	return corev1.DefaultTerminationGracePeriodSeconds * time.Second
}
