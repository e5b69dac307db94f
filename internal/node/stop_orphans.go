package node

import (
	"context"
	"log/slog"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// stopTimeout bounds how long a stopping node waits for containers that it has told to stop.
const stopTimeout = finishGracePeriod + 500*time.Millisecond

// stopOrphansAtExit stops containers whose pods are gone from the API server. All others run on. The workers have ended
// by now, and may have missed the deletion of a pod or the start of a container.
func (n *Node) stopOrphansAtExit(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.times.stopTimeout)
	defer cancel()
	left := n.stopOrphans(ctx)
	for len(left) > 0 {
		select {
		case <-ctx.Done():
			slog.Warn("containers without a pod have not ended yet", "containers", len(left))
			return
		case s, open := <-n.Runtime.Events():
			if !open {
				return
			}
			if s.State == runtime.Exited {
				delete(left, s.ID)
			}
		}
	}
}

// stopOrphans stops the containers without a pod, and returns those that it has told to stop.
func (n *Node) stopOrphans(ctx context.Context) map[runtime.ID]bool {
	stopped := map[runtime.ID]bool{}
	attempts, err := n.Runtime.List(ctx)
	if err != nil {
		warn(ctx, "list containers without a pod", err)
		return stopped
	}
	for _, s := range attempts {
		if s.State != runtime.Running || !n.orphaned(ctx, s) {
			continue
		}
		if err := n.Runtime.Stop(ctx, s.ID, finishGracePeriod); err != nil {
			warn(ctx, "stop container", err, "pod", s.PodUID, "container", s.Container)
			continue
		}
		stopped[s.ID] = true
	}
	return stopped
}

// orphaned reports whether the pod of an attempt is gone. It asks the API server, as informers lag behind.
func (n *Node) orphaned(ctx context.Context, s runtime.Status) bool {
	api, err := n.Client.Pods().Get(ctx, s.PodNamespace, s.PodName)
	return apierrors.IsNotFound(err) || err == nil && api.UID != s.PodUID
}
