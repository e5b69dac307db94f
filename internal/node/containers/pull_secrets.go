package containers

import (
	"context"
	"fmt"
	"strings"

	"github.com/stint-dev/stint/internal/image/registry/credentials"
)

// pullSecrets reads the pod's imagePullSecrets. A Secret that is missing causes only a warning, as the image may be
// stored already or be public. When the Secret is created, the pod is synced again.
func (m *Maker) pullSecrets(ctx context.Context, s Start) *credentials.Keyring {
	ring := &credentials.Keyring{}
	var failed []string
	for _, named := range s.Pod.Spec.ImagePullSecrets {
		if named.Name == "" {
			continue
		}
		secret, err := m.Env.Configs.Secret(ctx, s.Pod.Namespace, named.Name, nil)
		if err == nil {
			err = ring.AddSecret(secret)
		}
		if err != nil {
			failed = append(failed, err.Error())
		}
	}
	if len(failed) > 0 {
		s.Warn("FailedToRetrieveImagePullSecret", fmt.Sprintf(
			"Unable to retrieve some image pull secrets (%s); attempting to pull the image may not succeed.", strings.Join(failed, ", ")))
	}
	return ring
}
