package job_test

import (
	"context"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/test/wrappers"
)

// gated is a connection through which no pod is created while its gate is closed.
type gated struct {
	connection
	gate chan struct{}
}

func (g gated) Pods() client.Resource[*corev1.Pod] { return gatedPods{g.connection.Pods(), g.gate} }

type gatedPods struct {
	client.Resource[*corev1.Pod]
	gate chan struct{}
}

func (g gatedPods) Create(ctx context.Context, p *corev1.Pod) (*corev1.Pod, error) {
	<-g.gate
	return g.Resource.Create(ctx, p)
}

func TestAPodIsCountedWhileTheNextOneIsBeingCreated(t *testing.T) {
	e := start(t, job.Options{SyncBatchPeriod: time.Second}, func(*corev1.Pod) fate { return succeed })
	e.stopController()
	gate := make(chan struct{}, 1)
	open := sync.OnceFunc(func() { close(gate) })
	e.client = gated{e.client, gate}
	e.startController()
	t.Cleanup(open) // or the controller never stops
	gate <- struct{}{}
	e.create(wrappers.MakeJob("slow").Parallelism(1).Completions(2).Obj())
	e.until("slow", "its first pod counted", func(j *batchv1.Job) bool { return j.Status.Succeeded == 1 })
	if n := len(e.podList()); n != 1 {
		t.Errorf("%d pods, want 1", n)
	}
	open()
	e.untilFinished("slow")
}
