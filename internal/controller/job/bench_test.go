package job_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/controller/job"
)

// BenchmarkOneJob runs one Job of b.N pods that end at once, to measure the controller and not the node.
func BenchmarkOneJob(b *testing.B) {
	for _, parallelism := range []int32{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("parallelism=%d", parallelism), func(b *testing.B) { runOneJob(b, parallelism) })
	}
}

func runOneJob(b *testing.B, parallelism int32) {
	e := start(b, job.Options{}, always(succeed))
	var writes atomic.Int64
	if _, err := e.client.Jobs().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(any, any) { writes.Add(1) }}); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	e.create(newJob("j", pods(int32(b.N), parallelism)))
	e.untilFinished("j")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pods/s")
	b.ReportMetric(float64(writes.Load())/float64(b.N), "status-writes/pod")
}

// BenchmarkSmallJobs runs b.N Jobs of one pod.
func BenchmarkSmallJobs(b *testing.B) {
	e := start(b, job.Options{}, always(succeed))
	var writes, ended atomic.Int64
	all := make(chan struct{})
	if _, err := e.client.Jobs().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, obj any) {
			writes.Add(1)
			if has(obj.(*batchv1.Job), batchv1.JobComplete) && ended.Add(1) == int64(b.N) {
				close(all)
			}
		}}); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		j := newJob("")
		j.GenerateName, j.Namespace = "j-", e.namespace()
		if _, err := e.client.Jobs().Create(b.Context(), j); err != nil {
			b.Fatal(err)
		}
	}
	<-all
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(float64(writes.Load())/float64(b.N), "status-writes/job")
}
