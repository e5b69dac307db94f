package job_test

import (
	"context"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/client/remote"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/test/kube"
)

func TestClusterRunsJobs(t *testing.T) {
	c := kube.ForTest(t, kube.Options{})
	t.Run("controllers take over from each other", func(t *testing.T) { controllersTakeOver(t, c) })
	t.Run("invalid annotations have one event and the default is used", func(t *testing.T) { invalidAnnotationsHaveOneEvent(t, c) })
	t.Run("dependencies", func(t *testing.T) { dependenciesOnKubernetes(t, c) })
}

// controllersTakeOver has kube-controller-manager and this controller run the same Jobs in turns. Each is killed
// while it counts pods.
func controllersTakeOver(t *testing.T, c *kube.Cluster) {
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
	e.node = startNode(t, patient{clients}, s)
	ctx, cancel := context.WithCancel(context.Background())
	clients.Start(ctx)
	t.Cleanup(func() {
		e.node.stop()
		cancel()
		clients.Wait()
	})
	return e
}

// lead starts one of the two controllers. Stop kills it, and returns when none of its requests is under way.
func (e *env) lead(c *kube.Cluster, upstream bool) (stop func()) {
	e.t.Helper()
	if upstream {
		p, err := c.StartControllerManager("job-controller")
		if err != nil {
			e.t.Fatal(err)
		}
		return func() {
			p.Kill()
			// Pods that it has asked for may be created after its end, and a controller that has listed the pods
			// before would create others in their place.
			c.RestartAPIServer(e.t)
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

// patient is a connection that retries to write the status of a pod while the API server is away.
type patient struct{ connection }

func (p patient) Pods() client.Resource[*corev1.Pod] { return patientPods{p.connection.Pods()} }

type patientPods struct{ client.Resource[*corev1.Pod] }

func (p patientPods) ModifyStatus(ctx context.Context, pod *corev1.Pod, change func(*corev1.Pod)) (changed *corev1.Pod, err error) {
	for {
		changed, err = p.Resource.ModifyStatus(ctx, pod, change)
		if err == nil || apierrors.IsNotFound(err) || ctx.Err() != nil {
			return changed, err
		}
	}
}
