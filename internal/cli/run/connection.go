package run

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	batchclient "k8s.io/client-go/kubernetes/typed/batch/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/node/podlogs"
)

// defaultLateDataTimeout is much longer than a busy machine needs.
const defaultLateDataTimeout = 30 * time.Second

// connection is the connection to the server of a run. If that server stops, the run continues with another one.
type connection struct {
	target *target.Target
	// caller formats the commands in messages.
	caller  target.Caller
	clients atomic.Pointer[clients]
	// moved is set if the server is not the one that the run began with.
	moved bool
	// onServer is set once the server is a stint server. From then on the run waits for one where there is none, as the Jobs are to
	// run with that server's settings.
	onServer bool
	warn     *warnings
	// stored reads the logs of a server on this machine from its files; nil for other servers.
	stored *podlogs.Store
	// lateDataTimeout limits the wait for responses, and for the last logs, pods and events of a Job.
	lateDataTimeout time.Duration
}

// newConnection connects to t. Warnings of servers are passed to note.
func newConnection(t *target.Target, dataDir string, note func(string)) (*connection, error) {
	c := &connection{caller: t.Caller, warn: &warnings{note: note}, lateDataTimeout: defaultLateDataTimeout}
	if t.Kind != target.Cluster {
		c.stored = podlogs.Stored(dataDir)
	}
	return c, c.use(t)
}

// use makes t the server of the run.
func (c *connection) use(t *target.Target) error {
	config := rest.CopyConfig(t.Config)
	config.QPS = -1 // the server limits requests itself
	config.UserAgent = "stint"
	config.WarningHandler = c.warn
	to, err := newClients(config)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	c.target = t
	c.onServer = c.onServer || t.Server
	c.clients.Store(to)
	return nil
}

// disconnect makes requests fail, until use is called, as those to a server that has stopped do: what reads logs tries again.
func (c *connection) disconnect() error {
	to, err := newClients(&rest.Config{Host: "stopped.invalid", Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, syscall.ECONNREFUSED
	}})
	if err == nil {
		c.clients.Store(to)
	}
	return err
}

func (c *connection) batch() batchclient.BatchV1Interface { return c.clients.Load().batch }

func (c *connection) core() coreclient.CoreV1Interface { return c.clients.Load().core }

// namespaced reports whether a kind is namespaced. It does not ask the server about Jobs: most runs need no discovery.
func (c *connection) namespaced(gvk schema.GroupVersionKind) (bool, error) {
	if gvk.Group == "batch" {
		return true, nil
	}
	mapping, err := c.clients.Load().mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return false, err
	}
	return mapping.Scope.Name() == meta.RESTScopeNameNamespace, nil
}

// isOfStint reports whether the server is stint server, which a kubeconfig may name, too. Only that serves jobs/why.
func (c *connection) isOfStint(ctx context.Context) bool {
	if c.target.Kind != target.Cluster {
		return true
	}
	served := &metav1.APIResourceList{}
	err := c.batch().RESTClient().Get().AbsPath("/apis/batch/v1").Do(ctx).Into(served)
	return err == nil && slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Name == "jobs/why" })
}

// openLog reads a log from the server. A server on this machine keeps the file of a deleted pod for a moment, as a pod may be
// deleted before the watch shows it.
func (c *connection) openLog(ctx context.Context, pod *corev1.Pod, opts *corev1.PodLogOptions) (io.ReadCloser, error) {
	body, err := c.core().Pods(pod.Namespace).GetLogs(pod.Name, opts).Stream(ctx)
	if apierrors.IsNotFound(err) && c.stored != nil {
		if stored, failed := c.stored.PodLogs(ctx, pod, opts); failed == nil {
			return stored, nil
		}
	}
	return body, err
}
