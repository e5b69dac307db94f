package model_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
)

// request is something that a controller asks of the server. It waits until the test serves it.
type request struct {
	by *process
	// verb and object tell requests apart, so that those of one moment have an order.
	verb, object string
	// made is the pod of a create.
	made   *corev1.Pod
	at     time.Time
	do     func() (client.Object, error)
	answer chan answer
}

type answer struct {
	object client.Object
	err    error
}

// requests are those that wait.
type requests struct {
	mu      sync.Mutex
	waiting []*request
}

func (q *requests) add(r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, r)
}

func (q *requests) remove(r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(other *request) bool { return other == r })
}

// list returns what waits in an order that does not depend on how goroutines were scheduled.
func (q *requests) list() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	slices.SortStableFunc(q.waiting, func(a, b *request) int {
		return cmp.Or(cmp.Compare(a.by.number, b.by.number), cmp.Compare(a.verb, b.verb), cmp.Compare(a.object, b.object))
	})
	return slices.Clone(q.waiting)
}

func (q *requests) of(p *process) []*request {
	return slices.DeleteFunc(q.list(), func(r *request) bool { return r.by != p })
}

// ask sends a request of p and waits for the answer.
func ask[T client.Object](ctx context.Context, p *process, r *request) (T, error) {
	var none T
	if p.dead.Load() {
		return none, apierrors.NewServiceUnavailable("the process is dead")
	}
	r.by, r.at, r.answer = p, time.Now(), make(chan answer, 1)
	p.requests.add(r)
	select {
	case a := <-r.answer:
		if a.err != nil {
			return none, a.err
		}
		return a.object.(T), nil
	case <-ctx.Done():
		p.requests.remove(r)
		return none, ctx.Err()
	}
}

// Jobs and Pods make a process the controller's client.
func (p *process) Jobs() client.Resource[*batchv1.Job] { return jobResource{process: p} }

func (p *process) Pods() client.Resource[*corev1.Pod] { return podResource{process: p} }

func (p *process) ResultSlices() client.Resource[*stintv1.ResultSlice] {
	return sliceResource{process: p}
}

// jobResource has the requests that the Job controller sends; others would end the test.
type jobResource struct {
	client.Resource[*batchv1.Job]
	process *process
}

func (r jobResource) Informer() cache.SharedIndexInformer { return r.process.jobs }

func (r jobResource) Get(ctx context.Context, _, name string) (*batchv1.Job, error) {
	s := r.process.server
	return ask[*batchv1.Job](ctx, r.process, &request{verb: "get job", object: name, do: func() (client.Object, error) {
		if j := s.jobs.objects[name]; j != nil {
			return j, nil
		}
		return nil, apierrors.NewNotFound(jobs, name)
	}})
}

func (r jobResource) UpdateStatus(ctx context.Context, j *batchv1.Job) (*batchv1.Job, error) {
	s := r.process.server
	return ask[*batchv1.Job](ctx, r.process, &request{verb: "update status", object: j.Name, do: func() (client.Object, error) {
		return s.updateJobStatus(j)
	}})
}

type podResource struct {
	client.Resource[*corev1.Pod]
	process *process
}

func (r podResource) Informer() cache.SharedIndexInformer { return r.process.pods }

func (r podResource) Get(ctx context.Context, _, name string) (*corev1.Pod, error) {
	s := r.process.server
	return ask[*corev1.Pod](ctx, r.process, &request{verb: "get pod", object: name, do: func() (client.Object, error) {
		if p := s.pods.objects[name]; p != nil {
			return p, nil
		}
		return nil, apierrors.NewNotFound(pods, name)
	}})
}

func (r podResource) Create(ctx context.Context, p *corev1.Pod) (*corev1.Pod, error) {
	s := r.process.server
	return ask[*corev1.Pod](ctx, r.process, &request{verb: "create pod", object: p.GenerateName, made: p, do: func() (client.Object, error) {
		return s.createPod(p)
	}})
}

func (r podResource) Modify(ctx context.Context, observed *corev1.Pod, edit func(*corev1.Pod)) (*corev1.Pod, error) {
	s := r.process.server
	return ask[*corev1.Pod](ctx, r.process, &request{verb: "modify pod", object: observed.Name, do: func() (client.Object, error) {
		return s.modifyPod(observed, edit)
	}})
}

func (r podResource) UpdateStatus(ctx context.Context, p *corev1.Pod) (*corev1.Pod, error) {
	s := r.process.server
	return ask[*corev1.Pod](ctx, r.process, &request{verb: "update status of pod", object: p.Name, do: func() (client.Object, error) {
		return s.updatePodStatus(p)
	}})
}

func (r podResource) Delete(ctx context.Context, p *corev1.Pod, o client.DeleteOptions) error {
	s := r.process.server
	_, err := ask[*metav1.PartialObjectMetadata](ctx, r.process, &request{verb: "delete pod", object: p.Name, do: func() (client.Object, error) {
		if now := s.pods.objects[p.Name]; o.Unchanged && now != nil && now.ResourceVersion != p.ResourceVersion {
			return nil, apierrors.NewConflict(pods, p.Name, errors.New("it has changed"))
		}
		return &metav1.PartialObjectMetadata{}, s.deletePod(p.Name, p.UID, grace)
	}})
	return err
}
