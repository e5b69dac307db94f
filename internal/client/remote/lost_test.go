package remote_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/client/remote"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

// faultyClient is a client whose next requests have the faults in next.
type faultyClient struct {
	*remote.Client
	// config reaches the same server without faults.
	config    *rest.Config
	namespace string
	next      chan fault
	requests  atomic.Int64
}

func newFaultyClient(t *testing.T) *faultyClient {
	t.Helper()
	config := overTheNetwork(t, startServer(t))
	c := &faultyClient{config: config, next: make(chan fault, 10), namespace: namespaces(config)(t)}
	p := startProxy(t, config, func(*http.Request) fault {
		c.requests.Add(1)
		select {
		case f := <-c.next:
			return f
		default:
			return none
		}
	})
	through := p.config()
	through.BearerToken = config.BearerToken
	var err error
	if c.Client, err = remote.New(through); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *faultyClient) inject(faults ...fault) {
	c.requests.Store(0)
	for _, f := range faults {
		c.next <- f
	}
}

func (c *faultyClient) pod() *corev1.Pod {
	return wrappers.MakePod("").GenerateName("p-").Namespace(c.namespace).Finalizers("example.com/f").Obj()
}

func TestAWriteWhoseAnswerIsLostIsDoneOnce(t *testing.T) {
	c := newFaultyClient(t)
	ctx := t.Context()
	for _, faults := range [][]fault{
		{lostAnswer}, {lateAnswer}, {lostRequest}, {noAnswer}, {halfAnswer}, {lostAnswer, broken}, {lostAnswer, none, turnedAway},
	} {
		before := c.podCount(t)
		c.inject(faults...)
		made, err := c.Pods().Create(ctx, c.pod())
		if err != nil || made.UID == "" || c.podCount(t) != before+1 {
			t.Errorf("create with faults %v: %v, pods %d", faults, err, c.podCount(t)-before)
		}
	}

	job, err := c.Jobs().Create(ctx, wrappers.MakeJob("").GenerateName("j-").Namespace(c.namespace).Obj())
	if err != nil {
		t.Fatal(err)
	}
	job = job.DeepCopy()
	job.Status.Active, job.Status.StartTime = 1, ptr.To(metav1.Now())
	c.inject(lostAnswer)
	written, err := c.Jobs().UpdateStatus(ctx, job)
	if err != nil || written.Status.Active != 1 || written.ResourceVersion == job.ResourceVersion {
		t.Errorf("status: %v", err)
	}
	job.Status.Active = 2
	c.inject(lostRequest)
	if _, err := c.Jobs().UpdateStatus(ctx, job); !apierrors.IsConflict(err) {
		t.Errorf("a status from an old version: %v, want Conflict", err)
	}

	pod, err := c.Pods().Create(ctx, c.pod())
	if err != nil {
		t.Fatal(err)
	}
	c.inject(lostAnswer)
	changed, err := c.Pods().Modify(ctx, pod, func(p *corev1.Pod) { p.Finalizers = nil })
	if err != nil || len(changed.Finalizers) > 0 {
		t.Errorf("modify: %v", err)
	}
	c.inject(lostAnswer)
	if err := c.Pods().Delete(ctx, pod, client.DeleteOptions{}); err != nil {
		t.Errorf("delete: %v", err)
	}
}

// podCount discards the remaining faults and counts all pods.
func (c *faultyClient) podCount(t *testing.T) int {
	t.Helper()
	for len(c.next) > 0 {
		<-c.next
	}
	other, err := remote.New(c.config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	informer := other.Pods().Informer()
	other.Start(ctx)
	defer func() { cancel(); other.Wait() }()
	untilSynced(t, informer)
	return len(informer.GetStore().ListKeys())
}

func TestARefusedWriteIsNotRepeated(t *testing.T) {
	c := newFaultyClient(t)
	for _, f := range []fault{turnedAway, broken} {
		c.inject(f)
		if _, err := c.Pods().Create(t.Context(), c.pod()); err == nil || c.requests.Load() != 1 {
			t.Errorf("fault %d: %v after %d requests", f, err, c.requests.Load())
		}
	}
	c.inject(busy)
	if _, err := c.Pods().Create(t.Context(), c.pod()); err != nil || c.requests.Load() != 2 {
		t.Errorf("told when to come back: %v after %d requests", err, c.requests.Load())
	}
}

func TestEventsAndInformersDoNotUseUpTheLimitOfPods(t *testing.T) {
	config := overTheNetwork(t, startServer(t))
	namespace := namespaces(config)(t)
	config.QPS, config.Burst = 1e-6, 1 // one request now, and the next one days later
	c, err := remote.New(config)
	if err != nil {
		t.Fatal(err)
	}
	now := metav1.Now()
	event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e", Namespace: namespace}, Type: corev1.EventTypeNormal, Reason: "R",
		InvolvedObject: corev1.ObjectReference{Kind: "Job", Name: "j", Namespace: namespace}, FirstTimestamp: now, LastTimestamp: now}
	if _, err := c.Events().Create(event); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(await.Context(t))
	defer func() { cancel(); c.Wait() }()
	informer := c.Jobs().Informer()
	c.Start(ctx)
	untilSynced(t, informer)
	// Events and informers have not used the one request that reads and writes may make.
	if _, err := c.Pods().Get(ctx, namespace, "p"); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
	if _, err := c.Pods().Get(ctx, namespace, "p"); err == nil || apierrors.IsNotFound(err) {
		t.Errorf("a second request went past the limit: %v", err)
	}
}
