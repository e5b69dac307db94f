package explanation

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/image/progress"
)

// withPulls adds the progress of image pulls to the messages of pods that wait for one, if their nodes report it. Nodes of
// clusters do not.
func (o *Observer) withPulls(ctx context.Context, pods []*corev1.Pod) []*corev1.Pod {
	all, ok := o.Client.(interface {
		Nodes() client.Resource[*corev1.Node]
	})
	if !ok {
		return pods
	}
	byNode := map[string][]progress.Pull{}
	updated := slices.Clone(pods)
	for i, p := range pods {
		if p.Spec.NodeName == "" || p.Status.Phase != corev1.PodPending || len(progress.Images(p)) == 0 {
			continue
		}
		pulls, known := byNode[p.Spec.NodeName]
		if !known {
			if node, err := all.Nodes().Get(ctx, "", p.Spec.NodeName); err == nil {
				pulls = progress.Of(node)
			}
			byNode[p.Spec.NodeName] = pulls
		}
		if len(pulls) > 0 {
			updated[i] = withPull(p, pulls)
		}
	}
	return updated
}

func withPull(p *corev1.Pod, pulls []progress.Pull) *corev1.Pod {
	p = p.DeepCopy()
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range list {
			image, ok := progress.Image(list[i].State.Waiting)
			at := slices.IndexFunc(pulls, func(pull progress.Pull) bool { return pull.Image == image })
			if ok && at >= 0 {
				list[i].State.Waiting.Message += ", " + pulls[at].String()
			}
		}
	}
	return p
}
