package remote

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/stint-dev/stint/internal/client"
)

// Client is a connection to one cluster.
type Client struct {
	jobs   *resource[*batchv1.Job]
	pods   *resource[*corev1.Pod]
	events eventSink

	mu sync.Mutex
	// made are the informers that were asked for; started is how many of them run.
	made    []cache.SharedIndexInformer
	started int
	running sync.WaitGroup
}

// New makes a client. Config carries QPS, Burst, ContentType and UserAgent; built-in kinds travel as protobuf where it
// names no content type.
//
// Writes and reads share the limit on requests. Events have another one, of the same size, so that they never keep pods
// waiting. Informers have none: each has one watch, and waits by itself before it opens another.
func New(config *rest.Config) (*Client, error) {
	config = rest.CopyConfig(config)
	if config.ContentType == "" || config.ContentType == runtime.ContentTypeProtobuf {
		config.ContentType = runtime.ContentTypeProtobuf
		config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	}
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	unlimited := rest.CopyConfig(config)
	unlimited.QPS, unlimited.RateLimiter = -1, nil
	writes := connection{limited(config), transport}
	watches := connection{unlimited, transport}

	c := &Client{}
	if c.jobs, err = newResource[*batchv1.Job](c, jobs, writes, watches); err != nil {
		return nil, err
	}
	if c.pods, err = newResource[*corev1.Pod](c, pods, writes, watches); err != nil {
		return nil, err
	}
	c.events, err = newEventSink(connection{limited(config), transport})
	return c, err
}

// Jobs is all that can be asked about Jobs.
func (c *Client) Jobs() client.Resource[*batchv1.Job] { return c.jobs }

// Pods is all that can be asked about pods. What its informer shows is trimmed.
func (c *Client) Pods() client.Resource[*corev1.Pod] { return c.pods }

// Events is where an event broadcaster writes.
func (c *Client) Events() record.EventSink { return c.events }

// Start starts the informers that were asked for and do not run yet, until ctx ends.
func (c *Client) Start(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ; c.started < len(c.made); c.started++ {
		informer := c.made[c.started]
		c.running.Go(func() { informer.RunWithContext(ctx) })
	}
}

// Wait returns when the informers have stopped, after the end of the context that Start got.
func (c *Client) Wait() { c.running.Wait() }

func (c *Client) add(informer cache.SharedIndexInformer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, informer)
}

// connection makes REST clients of one transport and one limit on requests.
type connection struct {
	config    *rest.Config
	transport *http.Client
}

func (c connection) to(version schema.GroupVersion) (rest.Interface, error) {
	config := rest.CopyConfig(c.config)
	config.GroupVersion = &version
	config.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(scheme.Scheme, scheme.Codecs).WithoutConversion()
	config.APIPath = "/apis"
	if version.Group == "" {
		config.APIPath = "/api"
	}
	return rest.RESTClientForConfigAndClient(config, c.transport)
}
