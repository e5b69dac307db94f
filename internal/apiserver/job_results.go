package apiserver

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/results"
)

// jobResultsREST serves jobs/results.
type jobResultsREST struct{ server *Server }

func (*jobResultsREST) New() runtime.Object { return &stintv1.JobResults{} }

// Destroy does nothing: the stores belong to the Jobs, pods and ResultSlices.
func (*jobResultsREST) Destroy() {}

// GroupVersionKind implements rest.GroupVersionKindProvider, because the kind is in another group than Jobs.
func (*jobResultsREST) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return stintv1.SchemeGroupVersion.WithKind("JobResults")
}

// Get implements rest.Getter.
func (r *jobResultsREST) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	job, err := r.server.client.Jobs().Get(ctx, request.NamespaceValue(ctx), name)
	if err != nil {
		return nil, err
	}
	return r.server.resultsOf(ctx, job)
}

// resultsOf returns the results of a Job. It reads the pods before the slices, so that a pod that is deleted meanwhile is
// in a slice.
func (s *Server) resultsOf(ctx context.Context, job *batchv1.Job) (*stintv1.JobResults, error) {
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	var pods []*corev1.Pod
	_, err = s.client.Pods().List(ctx, job.Namespace, selector, func(p *corev1.Pod) { pods = append(pods, p) })
	if err != nil {
		return nil, err
	}
	var slices []stintv1.ResultSlice
	_, err = s.client.ResultSlices().List(ctx, job.Namespace, results.SlicesOf(job), func(r *stintv1.ResultSlice) { slices = append(slices, *r) })
	if err != nil {
		return nil, err
	}
	return results.Merge(job, slices, pods), nil
}
