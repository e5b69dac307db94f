package apiserver

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/warning"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/podspec"
	"github.com/stint-dev/stint/internal/podstatus"
)

// LogSource reads the logs of containers. The node implements it.
type LogSource interface {
	// PodLogs returns the log of the container of pod that opts names. With opts.Follow the reader ends when the container
	// has terminated or ctx has ended.
	PodLogs(ctx context.Context, pod *corev1.Pod, opts *corev1.PodLogOptions) (io.ReadCloser, error)
	// AttemptLogs returns the log of one start of a container of a pod, even if the pod is gone. attempt counts from 0; a
	// negative one means the last start. The error is a logs.GoneError if the log no longer exists.
	AttemptLogs(ctx context.Context, namespace string, of *stintv1.PodResult, attempt int32, opts *corev1.PodLogOptions) (io.ReadCloser, error)
	// Incomplete says, for people, what the kept logs of a deleted pod lack; empty if nothing is known to be missing.
	Incomplete(namespace string, of *stintv1.PodResult) string
}

// logREST serves pods/log.
type logREST struct {
	pods   *genericregistry.Store
	source LogSource
}

func (*logREST) New() runtime.Object { return &corev1.Pod{} }

// Destroy does nothing: the store belongs to the pods.
func (*logREST) Destroy() {}

// NewGetOptions implements rest.GetterWithOptions.
func (*logREST) NewGetOptions() (runtime.Object, bool, string) {
	return &corev1.PodLogOptions{}, false, ""
}

// ProducesMIMETypes implements rest.StorageMetadata.
func (*logREST) ProducesMIMETypes(string) []string { return []string{"text/plain"} }

// ProducesObject implements rest.StorageMetadata.
func (*logREST) ProducesObject(string) any { return "" }

// Get implements rest.GetterWithOptions. The handler streams the log from the returned object.
func (r *logREST) Get(ctx context.Context, name string, obj runtime.Object) (runtime.Object, error) {
	options, ok := obj.(*corev1.PodLogOptions)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not log options: %T", obj))
	}
	if errs := checkLogOptions(options); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "PodLogOptions"}, name, errs)
	}
	if r.source == nil {
		return nil, apierrors.NewServiceUnavailable("this server has no node to read logs from")
	}
	got, err := r.pods.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	pod := got.(*corev1.Pod)
	if options.Container, err = chooseContainer(pod, options.Container); err != nil {
		return nil, err
	}
	warnIncomplete(ctx, podstatus.IncompleteLogs(pod))
	return &logStream{source: r.source, pod: pod, options: options}, nil
}

// warnIncomplete warns the client of what a log lacks. The log itself is only what the container has printed.
func warnIncomplete(ctx context.Context, text string) {
	if text != "" {
		warning.AddWarning(ctx, "", text)
	}
}

func checkLogOptions(o *corev1.PodLogOptions) field.ErrorList {
	var errs field.ErrorList
	if o.SinceSeconds != nil && o.SinceTime != nil {
		errs = append(errs, field.Forbidden(field.NewPath("sinceSeconds"), "at most one of sinceTime and sinceSeconds may be given"))
	}
	if o.SinceSeconds != nil && *o.SinceSeconds < 1 {
		errs = append(errs, field.Invalid(field.NewPath("sinceSeconds"), *o.SinceSeconds, "must be greater than 0"))
	}
	if o.TailLines != nil && *o.TailLines < 0 {
		errs = append(errs, field.Invalid(field.NewPath("tailLines"), *o.TailLines, "must not be negative"))
	}
	if o.LimitBytes != nil && *o.LimitBytes < 1 {
		errs = append(errs, field.Invalid(field.NewPath("limitBytes"), *o.LimitBytes, "must be greater than 0"))
	}
	if o.Stream != nil && *o.Stream != corev1.LogStreamAll {
		errs = append(errs, field.NotSupported(field.NewPath("stream"), *o.Stream, []string{corev1.LogStreamAll}))
	}
	return errs
}

// chooseContainer checks the name of the container. If it is empty, it returns the pod's only container.
func chooseContainer(pod *corev1.Pod, name string) (string, error) {
	switch {
	case name == "" && len(pod.Spec.Containers) == 1:
		return pod.Spec.Containers[0].Name, nil
	case name == "":
		return "", apierrors.NewBadRequest(fmt.Sprintf("a container name must be specified for pod %s, choose one of: %s", pod.Name, listContainers(&pod.Spec)))
	case podspec.Container(&pod.Spec, name) == nil:
		return "", apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", name, pod.Name))
	}
	return name, nil
}

func listContainers(s *corev1.PodSpec) string {
	var names, inits, ephemeral []string
	for _, c := range s.Containers {
		names = append(names, c.Name)
	}
	for _, c := range s.InitContainers {
		inits = append(inits, c.Name)
	}
	for _, c := range s.EphemeralContainers {
		ephemeral = append(ephemeral, c.Name)
	}
	list := fmt.Sprint(names)
	if len(inits) > 0 {
		list += fmt.Sprintf(" or one of the init containers: %v", inits)
	}
	if len(ephemeral) > 0 {
		list += fmt.Sprintf(" or one of the ephemeral containers: %v", ephemeral)
	}
	return list
}

// logStream opens the log of a pod when the handler is ready to send it.
type logStream struct {
	source  LogSource
	pod     *corev1.Pod
	options *corev1.PodLogOptions
}

// GetObjectKind implements runtime.Object, which the handler requires.
func (*logStream) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements runtime.Object. It returns the stream itself, which never changes.
func (s *logStream) DeepCopyObject() runtime.Object { return s }

// InputStream implements rest.ResourceStreamer.
func (s *logStream) InputStream(ctx context.Context, _, _ string) (io.ReadCloser, bool, string, error) {
	reader, err := s.source.PodLogs(ctx, s.pod, s.options)
	return reader, s.options.Follow, "text/plain", err
}
