package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	batchclient "k8s.io/client-go/kubernetes/typed/batch/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/stint-dev/stint/internal/cli/target"
)

// clients are the ways to ask one server.
type clients struct {
	batch  batchclient.BatchV1Interface
	core   coreclient.CoreV1Interface
	any    dynamic.Interface
	mapper meta.RESTMapper
}

func (s *session) batch() batchclient.BatchV1Interface { return s.clients.Load().batch }

func (s *session) core() coreclient.CoreV1Interface { return s.clients.Load().core }

// use makes t the server of the run.
func (s *session) use(t *target.Target) error {
	config := rest.CopyConfig(t.Config)
	config.QPS = -1 // the server knows best what it can take
	config.UserAgent = "stint"
	config.WarningHandler = s.warn
	c, err := newClients(config)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	s.target = t
	s.clients.Store(c)
	return nil
}

func newClients(config *rest.Config) (*clients, error) {
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	c := &clients{mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco))}
	if c.any, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	binary := rest.CopyConfig(config)
	binary.ContentType = "application/vnd.kubernetes.protobuf"
	binary.AcceptContentTypes = binary.ContentType + ",application/json"
	if c.batch, err = batchclient.NewForConfig(binary); err != nil {
		return nil, err
	}
	c.core, err = coreclient.NewForConfig(binary)
	return c, err
}

// errGone says that nothing listens where the server was.
var errGone = errors.New("the server has gone")

// reconnect goes on with whatever serves the data directory now: the run that had its server inside it may have
// ended, and then the server is up to this one. Who cannot start a server waits for it.
func (s *session) reconnect(ctx context.Context) error {
	if s.opts.Start == nil {
		s.out.Note("the server has gone: waiting for it to come back")
	} else {
		s.out.Note("the server has gone: looking for another, or going on without")
	}
	for {
		t, err := connect(ctx, s.opts)
		switch {
		case err == nil:
			s.moved = true
			return s.use(t)
		case errors.Is(err, ErrInterrupted):
			s.leave()
			return err
		case s.opts.Start != nil || !errors.Is(err, target.ErrNoServer):
			return err
		}
		select {
		case <-s.opts.Interrupts:
			s.leave()
			return ErrInterrupted
		case <-time.After(tick):
		}
	}
}
