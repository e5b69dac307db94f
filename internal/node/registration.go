package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// heartbeatEvery is how often the node says that it lives. It shares a process with the API server, so nothing needs
// to hear it often; an idle machine writes next to nothing.
const heartbeatEvery = 5 * time.Minute

// registration owns the node's object and its Lease: it makes them, again if they are deleted, and keeps them up to date.
type registration struct {
	client      client.Interface
	name        string
	dir         string
	version     string
	address     string
	allocatable corev1.ResourceList
	isolation   runtime.Info
	disk        *disk
	pulls       *pullProgress
	// missing gets a value when the node's object may have been deleted.
	missing chan struct{}
}

// register makes the node's object, or brings the one of an earlier run up to date.
func (r *registration) register(ctx context.Context) error {
	object, err := r.client.Nodes().Get(ctx, "", r.name)
	if apierrors.IsNotFound(err) {
		object = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: r.name}}
		r.describe(object)
		if object, err = r.client.Nodes().Create(ctx, object); err != nil {
			return fmt.Errorf("node: create node %s: %w", r.name, err)
		}
	} else if err == nil {
		object, err = r.client.Nodes().Modify(ctx, object, r.describe)
	}
	if err != nil {
		return fmt.Errorf("node: register %s: %w", r.name, err)
	}
	if _, err = r.client.Nodes().ModifyStatus(ctx, object, r.describeStatus); err != nil {
		return fmt.Errorf("node: write the status of node %s: %w", r.name, err)
	}
	return nil
}

// deleted has the node's object made again.
func (r *registration) deleted() {
	select {
	case r.missing <- struct{}{}:
	default:
	}
}

// run says that the node lives until ctx ends.
func (r *registration) run(ctx context.Context) {
	ticker := time.NewTicker(heartbeatEvery)
	defer ticker.Stop()
	err := r.renewLease(ctx) // the node itself is registered before its pods are looked at
	for {
		if err != nil {
			warn(ctx, "heartbeat", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-r.missing:
		}
		err = errors.Join(r.register(ctx), r.renewLease(ctx))
	}
}
