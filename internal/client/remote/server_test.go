package remote_test

import (
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/kube"
)

func TestMain(m *testing.M) { kube.Main(m, kube.Options{}) }

// overTheNetwork returns the config of a client that connects to s through a socket, without a rate limit.
func overTheNetwork(t *testing.T, s *apiserver.Server) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", s.KubeconfigPath())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

func startServer(t *testing.T) *apiserver.Server {
	t.Helper()
	return apiservertest.Start(t, apiservertest.Listening(t)).Server
}

func untilSynced(t *testing.T, informer cache.SharedIndexInformer) {
	t.Helper()
	await.Until(t, "that the informer shows what there is", informer.HasSynced)
}
