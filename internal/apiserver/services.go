package apiserver

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
)

var servicesResource = schema.GroupResource{Resource: "services"}

// servicesREST returns an empty list of Services, which kubectl cluster-info needs, and refuses new ones with the reason.
type servicesREST struct{ rest.TableConvertor }

func newServicesREST() servicesREST {
	return servicesREST{rest.NewDefaultTableConvertor(servicesResource)}
}

func (servicesREST) New() runtime.Object     { return &corev1.Service{} }
func (servicesREST) NewList() runtime.Object { return &corev1.ServiceList{} }

// Destroy does nothing: there is no storage.
func (servicesREST) Destroy() {}

func (servicesREST) NamespaceScoped() bool   { return true }
func (servicesREST) GetSingularName() string { return "service" }

// List implements rest.Lister.
func (servicesREST) List(context.Context, *metainternalversion.ListOptions) (runtime.Object, error) {
	return &corev1.ServiceList{}, nil
}

// Get implements rest.Getter.
func (servicesREST) Get(_ context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	return nil, apierrors.NewNotFound(servicesResource, name)
}

// Update implements rest.Updater. Without it kubectl would not validate the fields of a Service.
//
//nolint:revive // the library's interface
func (r servicesREST) Update(ctx context.Context, name string, _ rest.UpdatedObjectInfo, _ rest.ValidateObjectFunc,
	_ rest.ValidateObjectUpdateFunc, _ bool, _ *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	_, err := r.Get(ctx, name, nil)
	return nil, false, err
}

// Create implements rest.Creater.
func (servicesREST) Create(_ context.Context, obj runtime.Object, _ rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	return nil, apierrors.NewForbidden(servicesResource, obj.(*corev1.Service).Name,
		errors.New("no Services are served by Stint: a process listens on the ports of the machine itself; leave it out"))
}
