package remote

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
)

// kind describes one kind of object.
type kind struct {
	schema.GroupVersionKind
	plural string
	// trim removes fields that no controller reads from an object.
	trim func(client.Object)
	// crd is the file of the kind's CustomResourceDefinition; empty for built-in kinds. Custom resources are sent as JSON
	// and do not support strategic merge patches.
	crd string
}

var (
	jobs          = kind{batchv1.SchemeGroupVersion.WithKind("Job"), "jobs", trimMeta, ""}
	pods          = kind{corev1.SchemeGroupVersion.WithKind("Pod"), "pods", trimPod, ""}
	cronJobs      = kind{batchv1.SchemeGroupVersion.WithKind("CronJob"), "cronjobs", trimMeta, ""}
	podTemplates  = kind{corev1.SchemeGroupVersion.WithKind("PodTemplate"), "podtemplates", trimMeta, ""}
	scheduledJobs = kind{stintv1.SchemeGroupVersion.WithKind("ScheduledJob"), "scheduledjobs", trimMeta, "deploy/crds/stint.dev_scheduledjobs.yaml"}
	resultSlices  = kind{stintv1.SchemeGroupVersion.WithKind("ResultSlice"), "resultslices", trimMeta, "deploy/crds/stint.dev_resultslices.yaml"}
	events        = kind{corev1.SchemeGroupVersion.WithKind("Event"), "events", trimMeta, ""}
)

// resource implements client.Resource.
type resource[T client.Object] struct {
	kind
	owner           *Client
	writes, watches rest.Interface
	// timeout is the timeout of one request; how long a watch may last comes on top of it.
	timeout time.Duration

	once     sync.Once
	informer cache.SharedIndexInformer
	// missing is set while the informer waits for the API server to know the kind.
	missing atomic.Bool
}

func newResource[T client.Object](owner *Client, k kind, writes, watches connection) (*resource[T], error) {
	w, err := writes.to(k)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", k.plural, err)
	}
	r, err := watches.to(k)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", k.plural, err)
	}
	return &resource[T]{kind: k, owner: owner, writes: w, watches: r, timeout: writes.timeout}, nil
}

func (r *resource[T]) Get(ctx context.Context, namespace, name string) (T, error) {
	return r.read(ctx, shortRetry, namespace, name)
}

func (r *resource[T]) read(ctx context.Context, p retryPolicy, namespace, name string) (T, error) {
	obj, _, err := retry(ctx, p, func() (T, error) {
		return r.whole(ctx, r.namespaced(r.writes.Get(), namespace).Name(name))
	})
	return obj, err
}

func (r *resource[T]) UpdateStatus(ctx context.Context, obj T) (T, error) {
	written, unsure, err := retry(ctx, shortRetry, func() (T, error) {
		return r.do(ctx, r.namespaced(r.writes.Put(), obj.GetNamespace()).Name(obj.GetName()).SubResource("status").Body(obj))
	})
	if unsure && apierrors.IsConflict(err) {
		return r.asWritten(ctx, obj, err)
	}
	return written, err
}

// asWritten returns the stored object if its status equals obj's: then an earlier try without a response was successful.
// Otherwise it returns the conflict.
func (r *resource[T]) asWritten(ctx context.Context, obj T, conflict error) (T, error) {
	var none T
	stored, err := r.Get(ctx, obj.GetNamespace(), obj.GetName())
	if err != nil || stored.GetUID() != obj.GetUID() {
		return none, conflict
	}
	if d, err := difference(stored, obj, statusPart); err != nil || d != nil {
		return none, conflict
	}
	return stored, nil
}

func (r *resource[T]) Modify(ctx context.Context, observed T, change func(T)) (T, error) {
	return r.modify(ctx, observed, change, mainPart)
}

func (r *resource[T]) ModifyStatus(ctx context.Context, observed T, change func(T)) (T, error) {
	return r.modify(ctx, observed, change, statusPart)
}

// modify writes the difference that change makes to observed. As only the difference matters, observed may be trimmed and
// out of date.
func (r *resource[T]) modify(ctx context.Context, observed T, change func(T), p part) (T, error) {
	if r.crd != "" {
		return r.merge(ctx, observed, change, p)
	}
	var none T
	changed := observed.DeepCopyObject().(T)
	change(changed)
	patch, err := difference(observed, changed, p)
	if err != nil {
		return none, fmt.Errorf("comparing %s %s: %w", r.Kind, observed.GetName(), err)
	}
	if patch == nil {
		return observed, nil
	}
	written, err := r.patch(ctx, types.StrategicMergePatchType, observed, patch, p)
	if (apierrors.IsConflict(err) || apierrors.IsInvalid(err)) && r.isDeleted(ctx, observed) {
		return none, r.notFound(observed)
	}
	return written, err
}

func (r *resource[T]) patch(ctx context.Context, patchType types.PatchType, obj T, patch []byte, p part) (T, error) {
	written, _, err := retry(ctx, shortRetry, func() (T, error) {
		request := r.namespaced(r.writes.Patch(patchType), obj.GetNamespace()).Name(obj.GetName())
		if p == statusPart {
			request = request.SubResource("status")
		}
		return r.do(ctx, request.Body(patch))
	})
	return written, err
}

func (r *resource[T]) notFound(obj T) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: r.Group, Resource: r.plural}, obj.GetName())
}

// isDeleted reports whether the object observed no longer exists. It is asked after a write failed: if another object has
// the name, the API server returns a conflict for some kinds, and Invalid because of the UID for others, such as pods.
func (r *resource[T]) isDeleted(ctx context.Context, observed T) bool {
	current, err := r.Get(ctx, observed.GetNamespace(), observed.GetName())
	return apierrors.IsNotFound(err) || err == nil && current.GetUID() != observed.GetUID()
}

func (r *resource[T]) Delete(ctx context.Context, obj T, opts client.DeleteOptions) error {
	if opts.LastFinalizer != "" {
		return fmt.Errorf("deleting %s %s: a cluster removes the finalizer %s in a write of its own", r.Kind, obj.GetName(), opts.LastFinalizer)
	}
	uid, version := obj.GetUID(), obj.GetResourceVersion()
	options := &metav1.DeleteOptions{GracePeriodSeconds: opts.GracePeriodSeconds, Preconditions: &metav1.Preconditions{}}
	if uid != "" {
		options.Preconditions.UID = &uid
	}
	if opts.Unchanged && version != "" {
		options.Preconditions.ResourceVersion = &version
	}
	if opts.Propagation != "" {
		options.PropagationPolicy = &opts.Propagation
	}
	_, unsure, err := retry(ctx, shortRetry, func() (T, error) {
		var none T
		request := r.namespaced(r.writes.Delete(), obj.GetNamespace()).Name(obj.GetName()).Body(options)
		return none, request.Do(ctx).Error()
	})
	if unsure && apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (r *resource[T]) namespaced(request *rest.Request, namespace string) *rest.Request {
	return request.NamespaceIfScoped(namespace, namespace != "").Resource(r.plural).Timeout(r.timeout)
}

func (r *resource[T]) do(ctx context.Context, request *rest.Request) (T, error) {
	var none T
	obj, err := scheme.New(r.GroupVersionKind)
	if err != nil {
		return none, err
	}
	if err := request.Do(ctx).Into(obj); err != nil {
		return none, err
	}
	return obj.(T), nil
}

// whole is do for an answer of which all fields are decoded.
func (r *resource[T]) whole(ctx context.Context, request *rest.Request) (T, error) {
	var none T
	obj, err := scheme.New(r.GroupVersionKind)
	if err != nil {
		return none, err
	}
	result := request.Do(ctx)
	if err := result.Error(); err != nil {
		return none, err
	}
	body, err := result.Raw()
	if err != nil {
		return none, err
	}
	if _, _, err := codecs.UniversalDeserializer().Decode(body, nil, obj); err != nil {
		return none, err
	}
	return obj.(T), nil
}
