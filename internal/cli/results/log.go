package results

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/internal/results"
)

// Log returns the request for the log of one attempt.
func (c *Client) Log(ctx context.Context, job *batchv1.Job, choice results.AttemptQuery, options *corev1.PodLogOptions) (rest.ResponseWrapper, error) {
	served, err := c.serves("jobs/log")
	if err != nil {
		return nil, err
	}
	if !served {
		return c.logOfPod(ctx, job, choice, options)
	}
	options.Previous = choice.Previous
	r := c.kube.BatchV1().RESTClient().Get().Namespace(c.namespace).Resource("jobs").Name(job.Name).SubResource("log").
		SpecificallyVersionedParams(options, scheme.ParameterCodec, corev1.SchemeGroupVersion)
	for name, value := range map[string]*int64{"index": choice.Index, "attempt": choice.Attempt} {
		if value != nil {
			r = r.Param(name, fmt.Sprint(*value))
		}
	}
	if choice.Pod != "" {
		r = r.Param("pod", choice.Pod)
	}
	return r, nil
}

// NotBegun reports whether err means that the attempt does not exist yet, but may start later.
func NotBegun(err error) bool {
	return errors.As(err, new(results.NotBegunError)) || apierrors.HasStatusCause(err, results.NotBegun)
}

// Refused makes a server's error an InputError if it is about the choice of the log.
func Refused(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsBadRequest(err) || apierrors.IsInvalid(err) {
		return InputError{err}
	}
	return err
}

// logOfPod returns the request for the log of the attempt's pod, for a cluster. The pod must still exist.
func (c *Client) logOfPod(ctx context.Context, job *batchv1.Job, choice results.AttemptQuery, options *corev1.PodLogOptions) (rest.ResponseWrapper, error) {
	var err error
	if choice.Container, err = results.Container(job, options.Container); err != nil {
		return nil, InputError{err}
	}
	all, _, err := c.Results(ctx, job)
	if err != nil {
		return nil, err
	}
	chosen, err := results.Select(job, all, choice)
	if err != nil {
		return nil, InputError{err}
	}
	pods := c.kube.CoreV1().Pods(c.namespace)
	pod, err := pods.Get(ctx, chosen.Pod.Pod, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) || err == nil && pod.UID != chosen.Pod.UID:
		return nil, fmt.Errorf("the log of %s is gone: a cluster does not keep logs of deleted pods", chosen)
	case err != nil:
		return nil, err
	}
	options.Container = choice.Container
	switch before := restartsOf(pod, choice.Container, chosen.Pod.Restarts) - chosen.Restart; {
	case before > 1:
		return nil, fmt.Errorf("the log of %s is gone: a cluster keeps those of a container's last two starts", chosen)
	default:
		options.Previous = before == 1
	}
	return pods.GetLogs(pod.Name, options), nil
}

// restartsOf returns the restart count of the container, or otherwise if the pod's status does not have it.
func restartsOf(pod *corev1.Pod, container string, otherwise int32) int32 {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			if list[i].Name == container {
				return list[i].RestartCount
			}
		}
	}
	return otherwise
}
