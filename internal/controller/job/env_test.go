package job_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/test/await"
)

func TestMain(m *testing.M) { apiservertest.Main(m) }

// connection is what tests need of any API server.
type connection interface {
	Jobs() client.Resource[*batchv1.Job]
	Pods() client.Resource[*corev1.Pod]
	ResultSlices() client.Resource[*stintv1.ResultSlice]
	Events() record.EventSink
}

// env is a namespace with a Job controller and a scripted node.
type env struct {
	t      testing.TB
	server *apiservertest.Server
	client connection
	api    kubernetes.Interface
	node   *node

	options  job.Options
	recorder record.EventRecorder
	// stopController returns once the controller writes no more.
	stopController func()
}

func start(t testing.TB, o job.Options, script script) *env {
	t.Helper()
	server := apiservertest.Shared(t)
	broadcaster := record.NewBroadcaster()
	e := &env{t: t, server: server, client: server.Client(), api: server.Clientset(), options: o,
		recorder: broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "job-controller"})}
	t.Cleanup(broadcaster.Shutdown)
	broadcaster.StartRecordingToSink(e.client.Events())
	e.node = startNode(t, e.client, script)
	t.Cleanup(e.node.stop)
	e.startController()
	return e
}

// namespace is where the objects of the test are.
func (e *env) namespace() string {
	if e.server == nil { // a cluster's
		return metav1.NamespaceDefault
	}
	return e.server.Namespace
}

func (e *env) startController() {
	e.letInformersCatchUp()
	e.stopController = e.server.Control(job.New(e.client, e.recorder, e.options))
}

// letInformersCatchUp gives a second controller what a new process has: a list of all that is stored. It shares the
// informers of the first, which may be late.
func (e *env) letInformersCatchUp() {
	if e.stopController == nil {
		return
	}
	informer := e.client.Pods().Informer()
	await.Until(e.t, "the informer to show all pods", func() bool {
		list, err := e.api.CoreV1().Pods(e.namespace()).List(context.Background(), metav1.ListOptions{})
		if err != nil {
			return false
		}
		for i := range list.Items {
			if _, shown, _ := informer.GetStore().Get(&list.Items[i]); !shown {
				return false
			}
		}
		return true
	}, func() string { return "pods are missing" })
}

func (e *env) create(j *batchv1.Job) *batchv1.Job {
	e.t.Helper()
	j.Namespace = e.namespace()
	made, err := e.api.BatchV1().Jobs(j.Namespace).Create(context.Background(), j, metav1.CreateOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	return made
}

// update changes a Job as a user does.
func (e *env) update(name string, change func(*batchv1.Job)) {
	e.t.Helper()
	observed, err := e.client.Jobs().Get(context.Background(), e.namespace(), name)
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := e.client.Jobs().Modify(context.Background(), observed, change); err != nil {
		e.t.Fatal(err)
	}
}

// until waits until is holds for the Job.
func (e *env) until(name, what string, is func(*batchv1.Job) bool) *batchv1.Job {
	e.t.Helper()
	last := &batchv1.Job{}
	await.Until(e.t, "Job "+name+": "+what, func() bool {
		j, err := e.client.Jobs().Get(e.t.Context(), e.namespace(), name)
		if err != nil {
			return false
		}
		last = j
		return is(j)
	}, func() string { return fmt.Sprintf("%+v\npods: %s", last.Status, e.describePods()) })
	return last
}

func (e *env) untilFinished(name string) *batchv1.Job {
	e.t.Helper()
	return e.until(name, "finished", func(j *batchv1.Job) bool {
		return has(j, batchv1.JobComplete) || has(j, batchv1.JobFailed)
	})
}

func (e *env) podList() []corev1.Pod {
	e.t.Helper()
	list, err := e.api.CoreV1().Pods(e.namespace()).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	return list.Items
}

func (e *env) describePods() (s string) {
	for _, p := range e.podList() {
		s += fmt.Sprintf("\n%s %s finalizers=%v deleted=%v", p.Name, p.Status.Phase, p.Finalizers, p.DeletionTimestamp)
	}
	return s
}

func has(j *batchv1.Job, kind batchv1.JobConditionType) bool {
	for _, c := range j.Status.Conditions {
		if c.Type == kind && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// script decides what a pod does. It is called for every change of a pod until the pod has terminated.
type script func(*corev1.Pod) fate

// fate is one of these.
type fate int

const (
	succeed fate = iota
	fail
	// fail42 ends with exit code 42.
	fail42
	// run keeps the pod running until it is deleted; then it fails.
	run
	// pend never starts.
	pend
	// linger keeps the pod running even when it is deleted.
	linger
)

// node plays a kubelet for all pods.
type node struct {
	client connection
	script script
	ctx    context.Context
	stop   context.CancelFunc
}

func startNode(t testing.TB, c connection, s script) *node {
	ctx, cancel := context.WithCancel(context.Background())
	n := &node{client: c, script: s, ctx: ctx}
	var work sync.WaitGroup
	n.stop = func() { cancel(); work.Wait() }
	pods := make(chan *corev1.Pod, 100_000)
	_, err := c.Pods().Informer().AddEventHandler(handler(func(p *corev1.Pod) { pods <- p }))
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		work.Go(func() {
			for {
				select {
				case p := <-pods:
					n.play(p)
				case <-ctx.Done():
					return
				}
			}
		})
	}
	return n
}

func (n *node) play(p *corev1.Pod) {
	if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		if p.DeletionTimestamp != nil {
			zero := int64(0)
			_ = n.client.Pods().Delete(n.ctx, p, client.DeleteOptions{GracePeriodSeconds: &zero})
		}
		return
	}
	f := n.script(p)
	switch {
	case f == pend:
	case f == succeed:
		n.end(p, corev1.PodSucceeded, 0)
	case f == fail:
		n.end(p, corev1.PodFailed, 1)
	case f == fail42:
		n.end(p, corev1.PodFailed, 42)
	case f == run && p.DeletionTimestamp != nil:
		n.end(p, corev1.PodFailed, 143)
	case p.Status.Phase == corev1.PodPending:
		n.set(p, func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodRunning
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
		})
	}
}

func (n *node) end(p *corev1.Pod, phase corev1.PodPhase, code int32) {
	n.set(p, func(p *corev1.Pod) {
		p.Status.Phase = phase
		p.Status.Conditions = nil
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", Image: "i", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.Now()}}}}
	})
}

// set ignores errors: a pod that is gone needs no status.
func (n *node) set(p *corev1.Pod, change func(*corev1.Pod)) {
	_, _ = n.client.Pods().ModifyStatus(n.ctx, p, change)
}
