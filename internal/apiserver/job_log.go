package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/stint-dev/stint/internal/node/logs"
	"github.com/stint-dev/stint/internal/podstatus"
	"github.com/stint-dev/stint/internal/results"
)

// JobLogOptions choose an attempt of a Job and the part of its log.
type JobLogOptions struct {
	corev1.PodLogOptions `json:",inline"`
	// Index is the completion index; for indexed Jobs only.
	Index *int64 `json:"index,omitempty"`
	// Attempt is the number of the attempt, counted from 1. Nil is the last attempt.
	Attempt *int64 `json:"attempt,omitempty"`
	// Pod chooses the pod by name instead of by index.
	Pod string `json:"pod,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (o *JobLogOptions) DeepCopyObject() runtime.Object {
	out := *o
	o.PodLogOptions.DeepCopyInto(&out.PodLogOptions)
	for _, p := range []**int64{&out.Index, &out.Attempt} {
		if *p != nil {
			n := **p
			*p = &n
		}
	}
	return &out
}

// jobLogREST serves jobs/log: the log of one attempt, even if its pod is gone.
type jobLogREST struct {
	server *Server
	source LogSource
}

func (*jobLogREST) New() runtime.Object { return &batchv1.Job{} }

// Destroy does nothing: the stores belong to the Jobs and pods.
func (*jobLogREST) Destroy() {}

// NewGetOptions implements rest.GetterWithOptions.
func (*jobLogREST) NewGetOptions() (runtime.Object, bool, string) { return &JobLogOptions{}, false, "" }

// ProducesMIMETypes implements rest.StorageMetadata.
func (*jobLogREST) ProducesMIMETypes(string) []string { return []string{"text/plain"} }

// ProducesObject implements rest.StorageMetadata.
func (*jobLogREST) ProducesObject(string) any { return "" }

// Get implements rest.GetterWithOptions. The handler streams the log from the returned object.
func (r *jobLogREST) Get(ctx context.Context, name string, obj runtime.Object) (runtime.Object, error) {
	options, ok := obj.(*JobLogOptions)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not log options: %T", obj))
	}
	if errs := checkLogOptions(&options.PodLogOptions); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "JobLogOptions"}, name, errs)
	}
	if r.source == nil {
		return nil, apierrors.NewServiceUnavailable("this server has no node to read logs from")
	}
	job, err := r.server.client.Jobs().Get(ctx, request.NamespaceValue(ctx), name)
	if err != nil {
		return nil, err
	}
	if options.Container, err = results.Container(job, options.Container); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	all, err := r.server.resultsOf(ctx, job)
	if err != nil {
		return nil, err
	}
	a, err := results.Select(job, all, options.choice())
	if err != nil {
		return nil, attemptNotFound(err)
	}
	return r.stream(ctx, job, a, &options.PodLogOptions), nil
}

func (o *JobLogOptions) choice() results.AttemptQuery {
	return results.AttemptQuery{Index: o.Index, Pod: o.Pod, Attempt: o.Attempt, Previous: o.Previous, Container: o.Container}
}

// stream returns the stream of an attempt's log. The log of the last start of an existing pod is read as by pods/log, which
// knows the state of the container. Otherwise it is read from the logs that the node keeps.
func (r *jobLogREST) stream(ctx context.Context, job *batchv1.Job, a *results.Selected, options *corev1.PodLogOptions) runtime.Object {
	options.Previous = false
	pod, err := r.server.client.Pods().Get(ctx, job.Namespace, a.Pod.Pod)
	exists := err == nil && pod.UID == a.Pod.UID
	if exists {
		warnIncomplete(ctx, podstatus.IncompleteLogs(pod))
	} else {
		warnIncomplete(ctx, r.source.Incomplete(job.Namespace, a.Pod))
	}
	if exists && a.Restart == a.Pod.Restarts {
		return &logStream{source: r.source, pod: pod, options: options}
	}
	restart := a.Restart
	if spec := &job.Spec.Template.Spec; restart == a.Pod.Restarts && len(spec.InitContainers)+len(spec.Containers) > 1 {
		restart = -1 // The restarts may be those of another container.
	}
	return &attemptStream{source: r.source, namespace: job.Namespace, chosen: a, restart: restart, options: options}
}

// attemptStream opens the log of an attempt when the handler is ready to send it.
type attemptStream struct {
	source    LogSource
	namespace string
	chosen    *results.Selected
	restart   int32
	options   *corev1.PodLogOptions
}

// GetObjectKind implements runtime.Object, which the handler requires.
func (*attemptStream) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements runtime.Object. It returns the stream itself, which never changes.
func (s *attemptStream) DeepCopyObject() runtime.Object { return s }

// InputStream implements rest.ResourceStreamer.
func (s *attemptStream) InputStream(ctx context.Context, _, _ string) (io.ReadCloser, bool, string, error) {
	reader, err := s.source.AttemptLogs(ctx, s.namespace, s.chosen.Pod, s.restart, s.options)
	var gone logs.GoneError
	if errors.As(err, &gone) {
		err = apierrors.NewResourceExpired(fmt.Sprintf("the log of %s is gone: %s", s.chosen, gone))
	}
	return reader, s.options.Follow, "text/plain", err
}

// attemptNotFound returns a NotFound error. Its cause shows clients whether the attempt may still start later.
func attemptNotFound(err error) error {
	status := metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: err.Error(),
	}
	if errors.As(err, new(results.NotBegunError)) {
		status.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: results.NotBegun, Message: err.Error()}}}
	}
	return &apierrors.StatusError{ErrStatus: status}
}
