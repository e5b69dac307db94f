package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/node/images"
	"github.com/stint-dev/stint/internal/node/runtime"
	pictures "github.com/stint-dev/stint/test/images"
)

func imageStore(t *testing.T) *store.Store {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("images are unpacked by root so far")
	}
	s, err := store.Open(filepath.Join(t.TempDir(), "images"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// waitsFor returns a check for pods with a container that waits for one of the reasons.
func waitsFor(reasons ...string) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool {
		for _, s := range p.Status.ContainerStatuses {
			for _, reason := range reasons {
				if s.State.Waiting != nil && s.State.Waiting.Reason == reason {
					return true
				}
			}
		}
		return false
	}
}

func TestAPodWhosePullSecretComesLaterRuns(t *testing.T) {
	s := imageStore(t)
	image := pictures.Image(t, v1.Config{}, pictures.Layer(t, map[string]pictures.File{"etc": {Mode: 0o755}}))
	host := pictures.ServeBehind(t, map[string]v1.Image{"a:1": image}, pictures.Login("me", "sesame"))
	rt := newScripted()
	rt.info.CanRunImages = true
	h := newTestNode(t, rt)
	h.startNode(func(c *node.Config) { c.Images = s })

	pod := h.create(build("a", []string{"exit", "0"}, func(p *corev1.Pod) {
		p.Spec.RuntimeClassName = ptr.To(runtime.ClassOCI)
		p.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "login"}}
		p.Spec.Containers[0].Image = host + "/a:1"
	}))
	if e := h.event(); !strings.Contains(e, `FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets (secret "login" not found)`) {
		t.Errorf("event %s", e)
	}
	h.until(pod, "the pull fails", waitsFor(images.ReasonFailed, images.ReasonBackOff))

	_, err := h.client.Secrets().Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "login", Namespace: pod.Namespace},
		Type:       corev1.SecretTypeDockercfg,
		Data:       map[string][]byte{corev1.DockerConfigKey: []byte(`{"` + host + `": {"username": "me", "password": "sesame"}}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	h.until(pod, "the pod runs", inPhase(corev1.PodSucceeded))
}
