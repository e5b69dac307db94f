package apiserver

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/stint-dev/stint/internal/apiserver/registry/service"
)

var servicesResource = corev1.Resource("services")

// servicesREST gives Services their addresses and node ports. What is taken is what the stored Services have, so nothing is
// remembered apart: one Service is written at a time, so that no two get the same.
type servicesREST struct {
	*objectREST
	addresses netip.Prefix
	mu        sync.Mutex
	// counts are how many Services each namespace has.
	counts sync.Map
}

func newServicesREST(main *objectREST) *servicesREST {
	s := &servicesREST{objectREST: main}
	main.BeginCreate, main.BeginUpdate = s.beginCreate, s.beginUpdate
	return s
}

// Create implements rest.Creater.
func (r *servicesREST) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.objectREST.Create(ctx, obj, validate, options)
}

// Update implements rest.Updater. A server-side apply creates Services by it.
//
//nolint:revive // the library's interface
func (r *servicesREST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc,
	update rest.ValidateObjectUpdateFunc, forceCreate bool, options *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.objectREST.Update(ctx, name, info, create, update, forceCreate, options)
}

// count adds to the number of Services of a namespace. The one of this server itself is not counted: it is always there.
func (r *servicesREST) count(svc *corev1.Service, n int32) {
	if !isKubernetesService(svc) {
		counter, _ := r.counts.LoadOrStore(svc.Namespace, new(atomic.Int32))
		counter.(*atomic.Int32).Add(n)
	}
}

// countStored counts the Services that a former server has left, and from then on all that come and go.
func (r *servicesREST) countStored(ctx context.Context) error {
	all, err := r.all(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		r.count(&all[i], 1)
	}
	r.AfterCreate = func(obj runtime.Object, options *metav1.CreateOptions) {
		if len(options.DryRun) == 0 {
			r.count(obj.(*corev1.Service), 1)
		}
	}
	return nil
}

// HasServices reports whether a namespace has Services beside that of this server. It knows of one as soon as the client does that
// has created it.
func (s *Server) HasServices(namespace string) bool {
	counter, has := s.services.counts.Load(namespace)
	return has && counter.(*atomic.Int32).Load() > 0
}

// ServiceRange returns the range from which Services get their addresses.
func (s *Server) ServiceRange() netip.Prefix { return s.services.addresses }

func (r *servicesREST) beginCreate(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
	return r.allocate(ctx, obj.(*corev1.Service), nil)
}

func (r *servicesREST) beginUpdate(ctx context.Context, obj, old runtime.Object, _ *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
	return r.allocate(ctx, obj.(*corev1.Service), &old.(*corev1.Service).Spec)
}

func (r *servicesREST) allocate(ctx context.Context, svc *corev1.Service, was *corev1.ServiceSpec) (genericregistry.FinishFunc, error) {
	service.Complete(&svc.Spec, was)
	if errs, err := r.allocateTo(ctx, &svc.Spec, was); err != nil {
		return nil, err
	} else if len(errs) > 0 {
		return nil, apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Service").GroupKind(), svc.Name, errs)
	}
	return func(context.Context, bool) {}, nil
}

func (r *servicesREST) allocateTo(ctx context.Context, s, was *corev1.ServiceSpec) (field.ErrorList, error) {
	all, err := r.all(ctx)
	if err != nil {
		return nil, err
	}
	return service.Allocate(s, was, r.addresses, service.TakenBy(all)), nil
}

func (r *servicesREST) all(ctx context.Context) ([]corev1.Service, error) {
	list, err := listAll[*corev1.ServiceList](genericapirequest.WithNamespace(ctx, metav1.NamespaceAll), r)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
