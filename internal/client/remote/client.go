package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
)

// Client is a connection to one cluster.
type Client struct {
	jobs          *resource[*batchv1.Job]
	pods          *resource[*corev1.Pod]
	cronJobs      *resource[*batchv1.CronJob]
	scheduledJobs *resource[*stintv1.ScheduledJob]
	resultSlices  *resource[*stintv1.ResultSlice]
	podTemplates  *resource[*corev1.PodTemplate]
	events        eventSink

	mu sync.Mutex
	// made are the resources whose informer has been requested; started is how many of these informers run.
	made    []hasInformer
	started int
	running sync.WaitGroup
}

// defaultTimeout is the default timeout of a request. It is longer than the minute after which a kube-apiserver itself
// ends a request with a timeout.
const defaultTimeout = 70 * time.Second

// New returns a client. It uses QPS, Burst, ContentType and UserAgent of config, and Timeout as the timeout of each
// request, 70 s by default. Without a content type, built-in kinds are sent as protobuf.
//
// Writes and reads share one rate limit. Events have their own limit of the same size, so that they never delay pods.
// Informers have none: each has one watch, and has its own delay before it opens another.
func New(config *rest.Config) (*Client, error) {
	config = rest.CopyConfig(config)
	if config.ContentType == "" || config.ContentType == runtime.ContentTypeProtobuf {
		config.ContentType = runtime.ContentTypeProtobuf
		config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	}
	within := cmp.Or(config.Timeout, defaultTimeout)
	config.Timeout = 0 // The transport would end watches after this timeout.
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	unlimited := rest.CopyConfig(config)
	unlimited.QPS, unlimited.RateLimiter = -1, nil
	writes := connection{limited(config), transport, within}
	watches := connection{unlimited, transport, within}

	c := &Client{}
	var errs [7]error
	c.jobs, errs[0] = newResource[*batchv1.Job](c, jobs, writes, watches)
	c.pods, errs[1] = newResource[*corev1.Pod](c, pods, writes, watches)
	c.cronJobs, errs[2] = newResource[*batchv1.CronJob](c, cronJobs, writes, watches)
	c.scheduledJobs, errs[3] = newResource[*stintv1.ScheduledJob](c, scheduledJobs, writes, watches)
	c.podTemplates, errs[4] = newResource[*corev1.PodTemplate](c, podTemplates, writes, watches)
	c.resultSlices, errs[5] = newResource[*stintv1.ResultSlice](c, resultSlices, writes, watches)
	c.events, errs[6] = newEventSink(connection{limited(config), transport, within})
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return c, nil
}

// Jobs reads and writes Jobs.
func (c *Client) Jobs() client.Resource[*batchv1.Job] { return c.jobs }

// Pods reads and writes pods. Those of its informer are trimmed.
func (c *Client) Pods() client.Resource[*corev1.Pod] { return c.pods }

// CronJobs reads and writes CronJobs.
func (c *Client) CronJobs() client.Resource[*batchv1.CronJob] { return c.cronJobs }

// ScheduledJobs reads and writes ScheduledJobs. If the API server does not know the kind, the informer waits until it
// does.
func (c *Client) ScheduledJobs() client.Resource[*stintv1.ScheduledJob] { return c.scheduledJobs }

// ResultSlices reads and writes ResultSlices, if the API server knows the kind.
func (c *Client) ResultSlices() client.Resource[*stintv1.ResultSlice] { return c.resultSlices }

// PodTemplates reads and writes PodTemplates.
func (c *Client) PodTemplates() client.Resource[*corev1.PodTemplate] { return c.podTemplates }

// Events is the sink of an event broadcaster.
func (c *Client) Events() record.EventSink { return c.events }

// Start starts the requested informers that do not run yet. They run until ctx ends.
func (c *Client) Start(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ; c.started < len(c.made); c.started++ {
		informer := c.made[c.started]
		c.running.Go(func() { informer.run(ctx) })
	}
}

// HasSynced reports whether all informers have synced. A kind that the API server does not know has no objects and counts
// as synced.
func (c *Client) HasSynced() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !slices.ContainsFunc(c.made, func(i hasInformer) bool { return !i.filled() })
}

// Wait waits until the informers have stopped, after the context of Start has ended.
func (c *Client) Wait() { c.running.Wait() }

// hasInformer is a resource with an informer.
type hasInformer interface {
	run(ctx context.Context)
	filled() bool
}

func (c *Client) add(r hasInformer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, r)
}

// connection makes REST clients that share a transport and a rate limit.
type connection struct {
	config    *rest.Config
	transport *http.Client
	// timeout is the timeout of one request.
	timeout time.Duration
}

func (c connection) to(k kind) (rest.Interface, error) {
	config, version := rest.CopyConfig(c.config), k.GroupVersion()
	config.GroupVersion = &version
	config.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(scheme, codecs).WithoutConversion()
	if k.GroupVersionKind == podKind {
		config.NegotiatedSerializer = podSerializer{config.NegotiatedSerializer}
	}
	config.APIPath = "/apis"
	if k.Group == "" {
		config.APIPath = "/api"
	}
	if k.crd != "" {
		config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, ""
	}
	return rest.RESTClientForConfigAndClient(config, c.transport)
}
