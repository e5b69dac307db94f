package remote_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/internal/client/remote"
	"github.com/stint-dev/stint/test/clienttest"
	"github.com/stint-dev/stint/test/kube"
)

func TestInProcessKeepsThePromises(t *testing.T) {
	s := startServer(t)
	clienttest.Run(t, s.Client(), func(context.Context) {
		if err := s.StartInformers(t.Context()); err != nil {
			t.Error(err)
		}
	}, namespaces(s.RESTConfig()))
}

// contentTypes are all tested, because their decoders differ for absent fields.
var contentTypes = map[string]string{"protobuf": "", "JSON": "application/json"}

func TestRemoteKeepsThePromisesOnTheEmbeddedServer(t *testing.T) {
	runRemote(t, overTheNetwork(t, startServer(t)))
}

func TestClusterKeepsThePromises(t *testing.T) {
	c := kube.Shared(t)
	for _, kind := range []string{"scheduledjobs", "resultslices"} {
		if err := c.InstallCRD(t.Context(), "../../../deploy/crds/stint.dev_"+kind+".yaml"); err != nil {
			t.Fatal(err)
		}
	}
	runRemote(t, c.Config())
}

func runRemote(t *testing.T, config *rest.Config) {
	for name, contentType := range contentTypes {
		t.Run(name, func(t *testing.T) {
			config := rest.CopyConfig(config)
			config.ContentType, config.QPS = contentType, -1
			c, err := remote.New(config)
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			defer func() { stop(); c.Wait() }()
			clienttest.Run(t, c, func(context.Context) { c.Start(ctx) }, namespaces(config))
		})
	}
}

// namespaces returns a function that creates a namespace.
func namespaces(config *rest.Config) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		ns, err := kubernetes.NewForConfigOrDie(config).CoreV1().Namespaces().Create(t.Context(),
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "promise-"}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return ns.Name
	}
}
