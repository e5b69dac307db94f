package node

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/image/registry/credentials"
	"github.com/stint-dev/stint/internal/node/lifecycle"
)

// pullSecrets reads the pod's imagePullSecrets. What is missing is told and does not count: the image may be there, or be
// for everyone. A Secret that comes later has the pod looked at again.
func (n *Node) pullSecrets(ctx context.Context, p *pod, api *corev1.Pod) *credentials.Keyring {
	ring := &credentials.Keyring{}
	var failed []string
	for _, named := range api.Spec.ImagePullSecrets {
		if named.Name == "" {
			continue
		}
		secret, err := n.env.Configs.Secret(ctx, api.Namespace, named.Name, nil)
		if err == nil {
			err = ring.AddSecret(secret)
		}
		if err != nil {
			failed = append(failed, err.Error())
		}
	}
	const reason = "FailedToRetrieveImagePullSecret"
	if len(failed) > 0 && p.first(lifecycle.NoticeKey{Reason: reason}) {
		n.Recorder.Eventf(api, corev1.EventTypeWarning, reason,
			"Unable to retrieve some image pull secrets (%s); attempting to pull the image may not succeed.", strings.Join(failed, ", "))
	}
	return ring
}
