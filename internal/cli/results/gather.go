package results

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/results"
)

// page is the limit of a list request.
const page = 500

// Client reads results and logs of one namespace.
type Client struct {
	namespace string
	kube      kubernetes.Interface
	// resources of batch/v1, once discovery has been asked.
	resources []string
}

// Connect returns a client.
func Connect(config *rest.Config, namespace string) (*Client, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = "stint"
	// Listing the pods of a large Job takes many requests.
	config.QPS, config.Burst = 50, 300
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &Client{namespace: namespace, kube: kube}, nil
}

// Job returns the Job of that name. If there is none, the error suggests a similar name.
func (c *Client) Job(ctx context.Context, name string) (*batchv1.Job, error) {
	if name == "" {
		return nil, inputErrorf("no Job is named")
	}
	job, err := c.kube.BatchV1().Jobs(c.namespace).Get(ctx, name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return job, err
	}
	list, listErr := c.kube.BatchV1().Jobs(c.namespace).List(ctx, metav1.ListOptions{Limit: page})
	if listErr != nil {
		return nil, listErr
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	text := fmt.Sprintf("there is no Job %q in namespace %s", name, c.namespace)
	if near := manifest.Closest(name, names); near != "" {
		return nil, inputErrorf("%s: did you mean %s?", text, near)
	}
	return nil, inputErrorf("%s, %s", text, others(names))
}

// others lists the Jobs that exist.
func others(names []string) string {
	const shown = 5
	switch n := len(names); {
	case n == 0:
		return "nor any other"
	case n > shown:
		return fmt.Sprintf("but %s and %d more", strings.Join(names[:shown], ", "), n-shown)
	}
	return "but " + strings.Join(names, " and ")
}

// Results returns the results of a Job, and a note if they may be incomplete.
func (c *Client) Results(ctx context.Context, job *batchv1.Job) (*stintv1.JobResults, string, error) {
	served, err := c.serves("jobs/results")
	if err != nil {
		return nil, "", err
	}
	if served {
		all := &stintv1.JobResults{}
		err := c.get(ctx, c.kube.BatchV1().RESTClient().Get().Namespace(c.namespace).Resource("jobs").Name(job.Name).SubResource("results"), all)
		return all, "", err
	}
	pods, err := c.pods(ctx, job)
	if err != nil {
		return nil, "", err
	}
	var note string
	slices, err := c.slices(ctx, job)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		note = "this cluster has no stored results, or they may not be read: only existing pods are listed"
	} else if err != nil {
		return nil, "", err
	}
	return results.Merge(job, slices, pods), note, nil
}

// serves reports whether batch/v1 has a resource.
func (c *Client) serves(resource string) (bool, error) {
	if c.resources == nil {
		list, err := c.kube.Discovery().ServerResourcesForGroupVersion(batchv1.SchemeGroupVersion.String())
		if err != nil {
			return false, err
		}
		for i := range list.APIResources {
			c.resources = append(c.resources, list.APIResources[i].Name)
		}
	}
	return slices.Contains(c.resources, resource), nil
}

func (c *Client) get(ctx context.Context, r *rest.Request, into any) error {
	text, err := r.SetHeader("Accept", "application/json").Do(ctx).Raw()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	return nil
}

// slices lists the ResultSlices of the Job.
func (c *Client) slices(ctx context.Context, job *batchv1.Job) ([]stintv1.ResultSlice, error) {
	var all []stintv1.ResultSlice
	next := ""
	for {
		list := &stintv1.ResultSliceList{}
		err := c.get(ctx, c.kube.BatchV1().RESTClient().Get().
			AbsPath("/apis", stintv1.SchemeGroupVersion.Group, stintv1.SchemeGroupVersion.Version, "namespaces", c.namespace, "resultslices").
			Param("labelSelector", results.SlicesOf(job).String()).Param("limit", fmt.Sprint(page)).Param("continue", next), list)
		if err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
		if next = list.Continue; next == "" {
			return all, nil
		}
	}
}

func (c *Client) pods(ctx context.Context, job *batchv1.Job) ([]*corev1.Pod, error) {
	if job.Spec.Selector == nil {
		return nil, errors.New("the Job has no selector to find its pods by")
	}
	var pods []*corev1.Pod
	options := metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(job.Spec.Selector), Limit: page}
	for {
		list, err := c.kube.CoreV1().Pods(c.namespace).List(ctx, options)
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			pods = append(pods, &list.Items[i])
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return pods, nil
		}
	}
}

// PodsGone reports whether the Job has no pods. It is false if they cannot be listed.
func (c *Client) PodsGone(ctx context.Context, job *batchv1.Job) bool {
	options := metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(job.Spec.Selector), Limit: 1}
	list, err := c.kube.CoreV1().Pods(c.namespace).List(ctx, options)
	return err == nil && len(list.Items) == 0
}
