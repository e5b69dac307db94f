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

// heartbeatEvery is how often the node renews its Lease and status. It shares a process with the API server, so nothing
// depends on frequent heartbeats, and an idle machine writes next to nothing.
const heartbeatEvery = 5 * time.Minute

// registration creates the Node and its Lease, recreates them if they are deleted, and keeps them up to date.
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
	// missing receives a value when the Node may have been deleted.
	missing chan struct{}
}

// register creates the Node, or updates the one of an earlier run.
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

// deleted triggers the Node's recreation.
func (r *registration) deleted() {
	select {
	case r.missing <- struct{}{}:
	default:
	}
}

// run renews the Node and its Lease until ctx ends.
func (r *registration) run(ctx context.Context) {
	ticker := time.NewTicker(heartbeatEvery)
	defer ticker.Stop()
	err := r.renewLease(ctx) // Node.begin has registered the Node itself.
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
