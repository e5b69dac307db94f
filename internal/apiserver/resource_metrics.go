package apiserver

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// ResourceMetrics measures what runs. The node implements it. Both methods leave out what does not run there.
type ResourceMetrics interface {
	PodMetrics(context.Context, []*corev1.Pod) ([]metricsv1beta1.PodMetrics, error)
	NodeMetrics(context.Context, []*corev1.Node) ([]metricsv1beta1.NodeMetrics, error)
}

func newPodMetricsREST(pods *genericregistry.Store, node func() (ResourceMetrics, error)) *metricsREST {
	r := newMetricsREST("pods", pods)
	r.namespaced = true
	r.one, r.all = &metricsv1beta1.PodMetrics{}, &metricsv1beta1.PodMetricsList{Items: []metricsv1beta1.PodMetrics{}}
	if node != nil {
		r.measure = measureAll(node, ResourceMetrics.PodMetrics)
	}
	return r
}

func newNodeMetricsREST(nodes *genericregistry.Store, node func() (ResourceMetrics, error)) *metricsREST {
	r := newMetricsREST("nodes", nodes)
	r.one, r.all = &metricsv1beta1.NodeMetrics{}, &metricsv1beta1.NodeMetricsList{Items: []metricsv1beta1.NodeMetrics{}}
	if node != nil {
		r.measure = measureAll(node, ResourceMetrics.NodeMetrics)
	}
	return r
}

// metricsREST serves measurements of the objects of another kind. They are made when they are asked for.
type metricsREST struct {
	rest.TableConvertor
	resource   schema.GroupResource
	objects    *genericregistry.Store
	namespaced bool
	// one and all are empty metrics and an empty list of them.
	one, all runtime.Object
	// measure returns a list of the metrics; nil if nothing runs here.
	measure func(ctx context.Context, objects []runtime.Object) ([]runtime.Object, error)
}

func newMetricsREST(plural string, objects *genericregistry.Store) *metricsREST {
	resource := metricsv1beta1.Resource(plural)
	return &metricsREST{TableConvertor: rest.NewDefaultTableConvertor(resource), resource: resource, objects: objects}
}

func (r *metricsREST) New() runtime.Object     { return r.one.DeepCopyObject() }
func (r *metricsREST) NewList() runtime.Object { return r.all.DeepCopyObject() }
func (r *metricsREST) NamespaceScoped() bool   { return r.namespaced }

// Destroy does nothing: the store belongs to the objects.
func (*metricsREST) Destroy() {}

// GetSingularName returns none: "pod" is a pod, not its metrics.
func (*metricsREST) GetSingularName() string { return "" }

// Get implements rest.Getter.
func (r *metricsREST) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	if r.measure == nil {
		return nil, errNothingRuns
	}
	object, err := r.objects.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	metrics, err := r.measure(ctx, []runtime.Object{object})
	if err != nil {
		return nil, err
	}
	if len(metrics) == 0 {
		missing := apierrors.NewNotFound(r.resource, name)
		missing.ErrStatus.Message = fmt.Sprintf("%s %q has no metrics: nothing of it runs here", r.resource, name)
		return nil, missing
	}
	return metrics[0], nil
}

var errNothingRuns = apierrors.NewServiceUnavailable("this server has no node that runs pods: there is nothing to measure")

// List implements rest.Lister.
func (r *metricsREST) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	if r.measure == nil {
		return nil, errNothingRuns
	}
	selected, err := r.objects.List(ctx, options)
	if err != nil {
		return nil, err
	}
	objects, err := meta.ExtractList(selected)
	if err != nil {
		return nil, err
	}
	metrics, err := r.measure(ctx, objects)
	if err != nil {
		return nil, err
	}
	list := r.NewList()
	return list, errors.Join(meta.SetList(list, metrics), copyPage(list, selected))
}

// copyPage has a list say what else there is, as another one does.
func copyPage(to, from runtime.Object) error {
	page, err := meta.ListAccessor(to)
	if err != nil {
		return err
	}
	was, err := meta.ListAccessor(from)
	if err != nil {
		return err
	}
	page.SetContinue(was.GetContinue())
	page.SetRemainingItemCount(was.GetRemainingItemCount())
	return nil
}

// measureAll converts a method of ResourceMetrics for any objects.
func measureAll[Object, Metrics any, P interface {
	*Metrics
	runtime.Object
}](node func() (ResourceMetrics, error), method func(ResourceMetrics, context.Context, []*Object) ([]Metrics, error)) func(context.Context, []runtime.Object) ([]runtime.Object, error) {
	return func(ctx context.Context, objects []runtime.Object) ([]runtime.Object, error) {
		source, err := node()
		if err != nil {
			return nil, err
		}
		typed := make([]*Object, len(objects))
		for i := range objects {
			typed[i] = any(objects[i]).(*Object)
		}
		measured, err := method(source, ctx, typed)
		if err != nil {
			return nil, unavailable(err)
		}
		metrics := make([]runtime.Object, len(measured))
		for i := range measured {
			metrics[i] = P(&measured[i])
		}
		return metrics, nil
	}
}

// unavailable makes an error of the API of one that is none.
func unavailable(err error) error {
	if apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
		return err
	}
	return apierrors.NewServiceUnavailable("measure what is used: " + err.Error())
}
