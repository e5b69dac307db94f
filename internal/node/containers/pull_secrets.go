package containers

import (
	"context"
	"fmt"
	"strings"

	"github.com/stint-dev/stint/internal/image/registry/credentials"
)

// pullSecrets reads the pod's imagePullSecrets. What is missing is told and does not count: the image may be there, or be
// for everyone. A Secret that comes later has the pod looked at again.
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
