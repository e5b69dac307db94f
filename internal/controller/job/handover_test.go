package job_test

import (
	"context"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"

	"github.com/stint-dev/stint/internal/client/remote"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/test/kube"
)

// TestControllersTakeOverFromEachOther has kube-controller-manager and this controller run the same Jobs by turns. Both
// die in the middle of counting.
func TestControllersTakeOverFromEachOther(t *testing.T) {
	c := kube.ForTest(t, kube.Options{})
	e := onCluster(t, c, always(succeed))
	names := []string{"j", "x"}
	e.create(newJob(names[0], pods(200, 20)))
	e.create(newJob(names[1], pods(200, 20), indexed))
	for turn := range int32(6) {
		stop := e.lead(c, turn%2 == 0)
		for _, name := range names {
			e.until(name, "on its way", func(j *batchv1.Job) bool { return j.Status.Succeeded >= (turn+1)*25 })
		}
		stop()
	}
	defer e.lead(c, false)()
	for _, name := range names {
		j := e.untilFinished(name)
		if j.Status.Succeeded != 200 || j.Status.Failed != 0 {
			t.Errorf("%s: %d succeeded and %d failed, want 200 and none", name, j.Status.Succeeded, j.Status.Failed)
		}
	}
	made := e.podList()
	for i := range made {
		if len(made[i].Finalizers) > 0 {
			t.Errorf("pod %s keeps %v", made[i].Name, made[i].Finalizers)
		}
	}
	if len(made) != 400 {
		t.Errorf("%d pods were made for 400 completions", len(made))
	}
}

// onCluster is an env whose API server is a real one, and without a controller.
func onCluster(t *testing.T, c *kube.Cluster, s script) *env {
	t.Helper()
	clients, err := remote.New(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	e := &env{t: t, client: clients, api: kubernetes.NewForConfigOrDie(c.Config())}
	e.node = startNode(t, clients, s)
	ctx, cancel := context.WithCancel(context.Background())
	clients.Start(ctx)
	t.Cleanup(func() {
		e.node.stop()
		cancel()
		clients.Wait()
	})
	return e
}

// lead starts one of the two controllers; stop kills it, and returns when nothing of it is under way any more.
func (e *env) lead(c *kube.Cluster, upstream bool) (stop func()) {
	e.t.Helper()
	if upstream {
		p, err := c.StartControllerManager("job-controller")
		if err != nil {
			e.t.Fatal(err)
		}
		return func() {
			p.Kill()
			e.untilNoPodsAreMade()
		}
	}
	clients, err := remote.New(c.Config())
	if err != nil {
		e.t.Fatal(err)
	}
	jc := job.New(clients, &record.FakeRecorder{}, quick())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	clients.Start(ctx)
	go func() { ended <- jc.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			e.t.Errorf("controller: %v", err)
		}
		clients.Wait()
	}
}

// untilNoPodsAreMade waits for those that a dead controller has asked for, and that the API server is still about to make.
// Whoever counts pods before they are there makes others in their place.
func (e *env) untilNoPodsAreMade() {
	e.t.Helper()
	const quiet = time.Second
	made, since := -1, time.Now()
	e.eventually("pods to be as many for "+quiet.String(), func(context.Context) bool {
		if n := len(e.podList()); n != made {
			made, since = n, time.Now()
		}
		return time.Since(since) > quiet
	}, func() string { return "" })
}
