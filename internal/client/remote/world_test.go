package remote_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client/remote"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/internal/events"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

// world is a namespace and a fake node that ends its pods. Its own client does not use the proxy.
type world struct {
	*testing.T
	direct    *remote.Client
	namespace string

	mu sync.Mutex
	// pods are all pods that ever existed, by Job; failed are those that the fake node let fail.
	pods   map[types.UID]sets.Set[types.UID]
	failed map[types.UID]sets.Set[types.UID]
}

func newWorld(t *testing.T, config *rest.Config) *world {
	t.Helper()
	direct, err := remote.New(config)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, direct: direct, namespace: namespaces(config)(t),
		pods: map[types.UID]sets.Set[types.UID]{}, failed: map[types.UID]sets.Set[types.UID]{}}
	informer := direct.Pods().Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { w.end(obj.(*corev1.Pod)) },
		UpdateFunc: func(_, obj any) { w.end(obj.(*corev1.Pod)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	direct.Start(ctx)
	t.Cleanup(func() { cancel(); direct.Wait() })
	return w
}

// end ends a pod; every seventh pod fails. It decides once for each pod, because the informer may report the pod again
// while it is still pending.
func (w *world) end(p *corev1.Pod) {
	owner := metav1.GetControllerOf(p)
	if p.Namespace != w.namespace || owner == nil || p.Status.Phase != corev1.PodPending {
		return
	}
	first, fails := w.see(owner.UID, p.UID)
	if !first {
		return
	}
	phase, code := corev1.PodSucceeded, int32(0)
	if fails {
		phase, code = corev1.PodFailed, 1
	}
	await.Until(w, "that pod "+p.Name+" is ended", func() bool {
		_, err := w.direct.Pods().ModifyStatus(w.Context(), p, func(p *corev1.Pod) {
			p.Status.Phase = phase
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", Image: "i", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.Now()}}}}
		})
		return err == nil || apierrors.IsNotFound(err)
	})
}

// see records a pod. It reports whether the pod is new, and whether it is to fail.
func (w *world) see(job, pod types.UID) (first, fails bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pods[job] == nil {
		w.pods[job], w.failed[job] = sets.Set[types.UID]{}, sets.Set[types.UID]{}
	}
	if w.pods[job].Has(pod) {
		return false, false
	}
	w.pods[job].Insert(pod)
	fails = len(w.pods[job])%7 == 1
	if fails {
		w.failed[job].Insert(pod)
	}
	return true, fails
}

// manager returns the managedBy of this world's Jobs, so that the controllers of parallel tests do not sync them.
func (w *world) manager() string { return "example.com/" + w.namespace }

func (w *world) podsOf(job types.UID) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.pods[job])
}

func (w *world) failedOf(job types.UID) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.failed[job])
}

func (w *world) startController(config *rest.Config) {
	w.Helper()
	c, err := remote.New(config)
	if err != nil {
		w.Fatal(err)
	}
	writer := events.NewWriter(c.Events(), scheme.Scheme)
	jc := job.New(c, writer.Recorder("job-controller"), job.Options{
		ManagedBy: []string{w.manager()}, PodFailureBackoff: 10 * time.Millisecond, MaxPodFailureBackoff: 100 * time.Millisecond})
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	c.Start(ctx)
	go func() { stopped <- jc.Run(ctx) }()
	w.Cleanup(func() {
		cancel()
		if err := await.Value(w, "the end of the controller", stopped); err != nil {
			w.Error(err)
		}
		c.Wait()
		writer.Close()
	})
}

func (w *world) create(name string, change func(*batchv1.JobSpec)) {
	w.Helper()
	j := wrappers.MakeJob(name).Namespace(w.namespace).ManagedBy(w.manager()).BackoffLimit(1000).Obj()
	change(&j.Spec)
	if _, err := w.direct.Jobs().Create(w.Context(), j); err != nil {
		w.Fatal(err)
	}
}

func (w *world) untilComplete(name string) *batchv1.Job {
	w.Helper()
	var last *batchv1.Job
	await.Until(w, "that Job "+name+" is complete", func() bool {
		j, err := w.direct.Jobs().Get(w.Context(), w.namespace, name)
		if err == nil {
			last = j
		}
		return err == nil && j.Status.CompletionTime != nil
	}, func() string { return fmt.Sprintf("%+v", last.Status) })
	return last
}

// untilReleased waits until no pod has a finalizer.
func (w *world) untilReleased() {
	w.Helper()
	var held []string
	await.Until(w, "that all pods are released", func() bool {
		held = nil
		for _, obj := range w.direct.Pods().Informer().GetStore().List() {
			if p := obj.(*corev1.Pod); p.Namespace == w.namespace && len(p.Finalizers) > 0 {
				held = append(held, p.Name)
			}
		}
		return len(held) == 0
	}, func() string { return fmt.Sprint(held) })
}

// made counts the pods of all Jobs.
func (w *world) made() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, pods := range w.pods {
		n += pods.Len()
	}
	return n
}
