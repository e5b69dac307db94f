package scheduledjob_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/gc"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/internal/controller/scheduledjob"
	"github.com/stint-dev/stint/internal/events"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

func TestMain(m *testing.M) { apiservertest.Main(m) }

// env is a namespace with the controllers that ScheduledJobs need, and a node that only pretends to run pods.
type env struct {
	t      testing.TB
	server *apiservertest.Server
	client client.Interface
	api    kubernetes.Interface
	events *events.Writer
	stop   func()
}

func start(t testing.TB, o scheduledjob.Options) *env {
	t.Helper()
	server := apiservertest.Shared(t)
	e := &env{t: t, server: server, client: server.Client(), api: server.Clientset()}
	e.events = events.NewWriter(e.client.Events(), events.Scheme)
	t.Cleanup(e.events.Close)
	e.server.Control(job.New(e.client, e.events.Recorder("job-controller"), job.Options{
		PodFailureBackoff: time.Millisecond, MaxPodFailureBackoff: 5 * time.Millisecond}))
	e.server.Control(gc.New(e.client, e.events.Recorder("garbage-collector-controller")))
	e.server.Control(newNode(t, e.client))
	e.startController(o)
	return e
}

func (e *env) startController(o scheduledjob.Options) {
	e.stop = e.server.Control(scheduledjob.New(e.client, e.events.Recorder("scheduledjob-controller"), o))
}

// in returns the same env for another test.
func (e *env) in(t *testing.T) *env {
	other := *e
	other.t = t
	return &other
}

// newScheduledJob runs "true" at these times; changes make it another.
func newScheduledJob(name, timeSpec string, changes ...func(*stintv1.ScheduledJobSpec)) *stintv1.ScheduledJob {
	w := wrappers.MakeScheduledJob(name).NodeName("node").Command("true")
	if timeSpec != "" {
		w.TimeSpec(timeSpec)
	}
	for _, change := range changes {
		change(&w.Obj().Spec)
	}
	return w.Obj()
}

// template is a template of pods that end as the command says: true, false, exit42, or hold to run until the test ends them.
func template(command string) *corev1.PodTemplateSpec {
	return wrappers.MakeScheduledJob("").NodeName("node").Command(command).Obj().Spec.Template
}

func (e *env) create(sj *stintv1.ScheduledJob) {
	e.t.Helper()
	sj.Namespace = e.server.Namespace
	if _, err := e.client.ScheduledJobs().Create(context.Background(), sj); err != nil {
		e.t.Fatal(err)
	}
}

// edit changes the spec as a user does.
func (e *env) edit(name string, change func(*stintv1.ScheduledJobSpec)) {
	e.t.Helper()
	sj, err := e.client.ScheduledJobs().Get(context.Background(), e.server.Namespace, name)
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := e.client.ScheduledJobs().Modify(context.Background(), sj, func(sj *stintv1.ScheduledJob) { change(&sj.Spec) }); err != nil {
		e.t.Fatal(err)
	}
}

// editStatus changes the newest status as a user does.
func (e *env) editStatus(name string, change func(*stintv1.ScheduledJobStatus)) {
	e.t.Helper()
	for {
		sj, err := e.client.ScheduledJobs().Get(context.Background(), e.server.Namespace, name)
		if err != nil {
			e.t.Fatal(err)
		}
		sj = sj.DeepCopy()
		change(&sj.Status)
		_, err = e.client.ScheduledJobs().UpdateStatus(context.Background(), sj)
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			e.t.Fatal(err)
		}
	}
}

// request adds a run on demand.
func (e *env) request(name, tag string) {
	e.t.Helper()
	e.editStatus(name, func(s *stintv1.ScheduledJobStatus) {
		s.PendingExecutions = append(s.PendingExecutions, stintv1.Execution{Tag: tag, Trigger: stintv1.TriggerManual})
	})
}

// until waits until is reports true for the status of a ScheduledJob.
func (e *env) until(name, what string, is func(*stintv1.ScheduledJobStatus) bool) *stintv1.ScheduledJobStatus {
	e.t.Helper()
	last := &stintv1.ScheduledJob{}
	await.Until(e.t, name+": "+what, func() bool {
		sj, err := e.client.ScheduledJobs().Get(context.Background(), e.server.Namespace, name)
		if err != nil {
			return false
		}
		last = sj
		return is(&sj.Status)
	}, func() string { return fmt.Sprintf("%+v", last.Status) })
	return &last.Status
}

// jobs returns the Jobs of a ScheduledJob.
func (e *env) jobs(name string) []batchv1.Job {
	e.t.Helper()
	list, err := e.api.BatchV1().Jobs(e.server.Namespace).List(context.Background(), metav1.ListOptions{LabelSelector: stintv1.LabelJobName + "=" + name})
	if err != nil {
		e.t.Fatal(err)
	}
	return list.Items
}

// finish ends the pods of a run.
func (e *env) finish(name, tag string, phase corev1.PodPhase) {
	e.t.Helper()
	await.Until(e.t, "pods of run "+tag, func() (found bool) {
		for _, p := range e.podsOf(name) {
			if p.Labels[stintv1.LabelJobTag] == tag {
				end(e.client, &p, phase, map[corev1.PodPhase]int32{corev1.PodFailed: 3}[phase])
				found = true
			}
		}
		return found
	}, func() string { return "none" })
}

// podsOf returns the pods of all runs of a ScheduledJob.
func (e *env) podsOf(name string) []corev1.Pod {
	e.t.Helper()
	list, err := e.api.CoreV1().Pods(e.server.Namespace).List(context.Background(), metav1.ListOptions{LabelSelector: stintv1.LabelJobName + "=" + name})
	if err != nil {
		e.t.Fatal(err)
	}
	return list.Items
}

// untilEvents waits until there is an event for each of these prefixes of "Reason: message".
func (e *env) untilEvents(name string, want ...string) {
	e.t.Helper()
	var got []string
	await.Until(e.t, fmt.Sprintf("events of %s with %q", name, want), func() bool {
		list, err := e.api.CoreV1().Events(e.server.Namespace).List(context.Background(), metav1.ListOptions{
			FieldSelector: "involvedObject.kind=ScheduledJob,involvedObject.name=" + name})
		if err != nil {
			return false
		}
		got = nil
		for i := range list.Items {
			got = append(got, list.Items[i].Reason+": "+list.Items[i].Message)
		}
		return !slices.ContainsFunc(want, func(w string) bool {
			return !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, w) })
		})
	}, func() string { return strings.Join(got, "\n") })
}

func tags(list []stintv1.Execution) []string {
	var all []string
	for _, e := range list {
		all = append(all, e.Tag)
	}
	return all
}

// node ends all pods, as a kubelet that runs their commands does.
type node struct {
	client client.Interface
	pods   chan *corev1.Pod
}

func newNode(t testing.TB, c client.Interface) *node {
	n := &node{client: c, pods: make(chan *corev1.Pod, 100_000)}
	_, err := c.Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { n.pods <- o.(*corev1.Pod) },
		UpdateFunc: func(_, o any) { n.pods <- o.(*corev1.Pod) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *node) Run(ctx context.Context) error {
	for {
		select {
		case p := <-n.pods:
			n.play(p)
		case <-ctx.Done():
			return nil
		}
	}
}

func (n *node) play(p *corev1.Pod) {
	switch command := p.Spec.Containers[0].Command[0]; {
	case p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed:
		if p.DeletionTimestamp != nil {
			zero := int64(0)
			_ = n.client.Pods().Delete(context.Background(), p, client.DeleteOptions{GracePeriodSeconds: &zero})
		}
	case p.DeletionTimestamp != nil:
		end(n.client, p, corev1.PodFailed, 143)
	case command == "true":
		end(n.client, p, corev1.PodSucceeded, 0)
	case command == "false":
		end(n.client, p, corev1.PodFailed, 1)
	case command == "exit42":
		end(n.client, p, corev1.PodFailed, 42)
	}
}

// end ignores errors: a pod that is gone needs no status.
func end(c client.Interface, p *corev1.Pod, phase corev1.PodPhase, code int32) {
	_, _ = c.Pods().ModifyStatus(context.Background(), p, func(p *corev1.Pod) {
		p.Status.Phase = phase
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", Image: "i", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.Now()}}}}
	})
}
