package job_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/test/wrappers"
)

func TestManyTerminatedPodsAreCountedBeforeThePeriodIsOver(t *testing.T) {
	const many = 32
	e := start(t, job.Options{SyncBatchPeriod: time.Hour}, func(*corev1.Pod) fate { return run })
	e.create(wrappers.MakeJob("j").Parallelism(many + 1).Completions(10 * many).Obj())
	e.until("j", "all its pods active", func(j *batchv1.Job) bool { return j.Status.Active == many+1 })
	pods := e.podList()
	e.node.end(&pods[0], corev1.PodSucceeded, 0)
	e.until("j", "the first pod counted", func(j *batchv1.Job) bool { return j.Status.Succeeded == 1 })
	for i := range pods[1:] {
		e.node.end(&pods[i+1], corev1.PodSucceeded, 0)
	}
	e.until("j", "the others counted", func(j *batchv1.Job) bool { return j.Status.Succeeded == many+1 })
}
