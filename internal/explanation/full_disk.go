package explanation

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node/diskpressure"
	"github.com/stint-dev/stint/internal/node/taints"
	"github.com/stint-dev/stint/internal/podstatus"
)

// largest returns, by UID, what pods take that are among the largest on the full disk of their node, if the client knows nodes.
func (o *Observer) largest(ctx context.Context, pods []*corev1.Pod) map[types.UID]string {
	all, ok := o.Client.(interface {
		Nodes() client.Resource[*corev1.Node]
	})
	if !ok {
		return nil
	}
	pressure, largest := map[string]string{}, map[types.UID]string{}
	for _, p := range pods {
		name := p.Spec.NodeName
		if name == "" || podstatus.IsTerminal(p.Status.Phase) {
			continue
		}
		message, known := pressure[name]
		if !known {
			if node, err := all.Nodes().Get(ctx, "", name); err == nil {
				message = taints.DiskPressure(node)
			}
			pressure[name] = message
		}
		if text := diskpressure.OfPod(message, p.Namespace, p.Name); text != "" {
			largest[p.UID] = text
		}
	}
	return largest
}
