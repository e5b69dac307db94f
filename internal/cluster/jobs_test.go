package cluster_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/kube"
	"github.com/stint-dev/stint/test/wrappers"
)

// node terminates pods as they are created: with success, unless the label fate says otherwise. It records all pods.
type node struct {
	kubernetes.Interface
	// namespace is the test's own.
	namespace string
	mu        sync.Mutex
	pods      map[types.UID]*corev1.Pod
	// gate is how many more pods of a Job are terminated; a Job that is not in it has no limit.
	gate map[string]int
	held map[string][]*corev1.Pod
}

func newNode(t *testing.T, c *kube.Cluster) *node {
	t.Helper()
	n := &node{Interface: kubernetes.NewForConfigOrDie(c.Config()), namespace: c.Namespace(t), pods: map[types.UID]*corev1.Pod{},
		gate: map[string]int{}, held: map[string][]*corev1.Pod{}}
	t.Cleanup(func() { n.leaveNothing(t) })
	factory := informers.NewSharedInformerFactoryWithOptions(n, 0, informers.WithNamespace(n.namespace))
	if _, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { n.see(t.Context(), obj.(*corev1.Pod)) },
	}); err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	t.Cleanup(factory.Shutdown)
	return n
}

// leaveNothing deletes the objects that a controller of a later test would sync.
func (n *node) leaveNothing(t *testing.T) {
	for _, kind := range []string{
		"/apis/stint.dev/v1/namespaces/%s/scheduledjobs", "/apis/batch/v1/namespaces/%s/cronjobs",
		"/apis/batch/v1/namespaces/%s/jobs", "/api/v1/namespaces/%s/pods",
	} {
		err := n.Discovery().RESTClient().Delete().AbsPath(fmt.Sprintf(kind, n.namespace)).
			Param("propagationPolicy", "Background").Param("gracePeriodSeconds", "0").Do(context.Background()).Error()
		if err != nil && !apierrors.IsNotFound(err) { // The kind may not be there.
			t.Error(err)
		}
	}
}

func (n *node) see(ctx context.Context, pod *corev1.Pod) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pods[pod.UID] != nil {
		return
	}
	n.pods[pod.UID] = pod
	job := pod.Labels[batchv1.JobNameLabel]
	n.held[job] = append(n.held[job], pod)
	n.advance(ctx, job)
}

// advance terminates held pods of a Job, as many as its gate allows.
func (n *node) advance(ctx context.Context, job string) {
	for _, pod := range slices.Clone(n.held[job]) {
		if left, gated := n.gate[job]; gated && left <= 0 {
			return
		} else if gated {
			n.gate[job]--
		}
		n.held[job] = n.held[job][1:]
		n.end(ctx, pod)
	}
}

// end terminates a pod. It retries, as some tests stop the API server.
func (n *node) end(ctx context.Context, pod *corev1.Pod) {
	patch := `{"status":{"phase":"Succeeded"}}`
	if pod.Labels["fate"] == "fail" {
		patch = `{"status":{"phase":"Failed","containerStatuses":[{"name":"main","image":"i","imageID":"",
			"state":{"terminated":{"exitCode":42}}}]}}`
	}
	await.Poll(ctx, func(ctx context.Context) (bool, error) {
		_, err := n.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
		return err == nil || apierrors.IsNotFound(err), nil
	})
}

// hold terminates the first pods of a Job and no more.
func (n *node) hold(job string, first int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gate[job] = first
}

// let terminates some more pods of a Job.
func (n *node) let(ctx context.Context, job string, more int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gate[job] += more
	n.advance(ctx, job)
}

// letGo terminates all pods of a Job.
func (n *node) letGo(ctx context.Context, job string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.gate, job)
	n.advance(ctx, job)
}

// made returns how many pods were created for a Job.
func (n *node) made(job string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	count := 0
	for _, pod := range n.pods {
		if pod.Labels[batchv1.JobNameLabel] == job {
			count++
		}
	}
	return count
}

// newJob returns a Job with this spec.managedBy, which is not set if manager is empty.
func newJob(name, manager string, change ...func(*batchv1.JobSpec)) *batchv1.Job {
	job := wrappers.MakeJob(name).Containers("main").Command("true").Obj()
	job.Spec.Template.Labels = map[string]string{}
	if manager != "" {
		job.Spec.ManagedBy = &manager
	}
	for _, c := range change {
		c(&job.Spec)
	}
	return job
}

func size(completions, parallelism int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = &completions, &parallelism }
}

func failing(s *batchv1.JobSpec) {
	s.Template.Labels["fate"] = "fail"
	s.BackoffLimit = ptr.To[int32](0)
}

func (n *node) create(t *testing.T, job *batchv1.Job) {
	t.Helper()
	if _, err := n.BatchV1().Jobs(n.namespace).Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (n *node) job(t *testing.T, name string) *batchv1.Job {
	t.Helper()
	job, err := n.BatchV1().Jobs(n.namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// awaitJob waits for a state of a Job. It ignores errors, as some tests stop the API server.
func (n *node) awaitJob(t *testing.T, name, what string, is func(*batchv1.Job) bool) {
	t.Helper()
	var last *batchv1.Job
	defer func() {
		if t.Failed() && last != nil {
			t.Logf("job %s: %+v", name, last.Status)
		}
	}()
	await.Until(t, "job "+name+" "+what, func() bool {
		job, err := n.BatchV1().Jobs(n.namespace).Get(t.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
		if err != nil {
			return false
		}
		last = job
		return is(job)
	})
}

func (n *node) awaitEnd(t *testing.T, name string) {
	t.Helper()
	n.awaitJob(t, name, "to end", func(job *batchv1.Job) bool {
		return has(job, batchv1.JobComplete) || has(job, batchv1.JobFailed)
	})
}

func has(job *batchv1.Job, condition batchv1.JobConditionType) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == condition && c.Status == corev1.ConditionTrue
	})
}

// exact checks that a Job has completed with as many pods as it needs, each counted once.
func (n *node) exact(t *testing.T, name string) {
	t.Helper()
	job := n.job(t, name)
	if !has(job, batchv1.JobComplete) {
		t.Errorf("job %s has not completed: %+v", name, job.Status)
	}
	want := *job.Spec.Completions
	if got := job.Status.Succeeded; got != want || job.Status.Failed != 0 {
		t.Errorf("job %s: %d succeeded and %d failed, want %d and 0", name, got, job.Status.Failed, want)
	}
	if got := n.made(name); got != int(want) {
		t.Errorf("job %s had %d pods, want %d", name, got, want)
	}
}

// statusWriter returns the field manager that wrote a Job's status.
func statusWriter(job *batchv1.Job) string {
	for _, entry := range job.ManagedFields {
		if entry.Subresource == "status" {
			return entry.Manager
		}
	}
	return ""
}

func (n *node) awaitEvent(t *testing.T, job, reason, text string) {
	t.Helper()
	await.Until(t, "event "+reason+" of job "+job, func() bool {
		events, err := n.CoreV1().Events(n.namespace).List(t.Context(), metav1.ListOptions{
			FieldSelector: "involvedObject.name=" + job + ",reason=" + reason})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return strings.Contains(e.Message, text) })
	})
}
