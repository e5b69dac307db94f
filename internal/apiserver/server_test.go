package apiserver_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/test/wrappers"
)

// running is a server with its config for HTTP clients.
type running struct {
	*apiserver.Server
	dir  string
	http *rest.Config
	// stop stops the server and then closes the store.
	stop func()
}

func start(t testing.TB) *running { return startIn(t, t.TempDir(), nil) }

func startIn(t testing.TB, dir string, logs apiserver.LogSource) *running {
	t.Helper()
	s := apiservertest.Start(t, apiservertest.In(dir), apiservertest.Listening(t),
		func(c *apiserver.Config) { c.Logs = logs })
	r := &running{Server: s.Server, dir: dir}
	r.stop = func() {
		r.closeIdle()
		s.Stop()
	}
	t.Cleanup(r.stop)
	var err error
	r.http, err = clientcmd.BuildConfigFromFlags("", s.KubeconfigPath())
	if err != nil {
		t.Fatal(err)
	}
	r.http.QPS = -1
	return r
}

func (r *running) clientset(t testing.TB) *kubernetes.Clientset {
	t.Helper()
	c, err := kubernetes.NewForConfig(r.http)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// closeIdle closes idle connections, for which a stopping server would wait a second.
func (r *running) closeIdle() {
	if r.http == nil {
		return
	}
	if transport, err := rest.TransportFor(r.http); err == nil {
		utilnet.CloseIdleConnectionsFor(transport)
	}
}

func pod(name string) *corev1.Pod {
	return wrappers.MakePod(name).Namespace("default").Command("true").Obj()
}

func TestAPodIsMadeAndReadBack(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	c := r.clientset(t)
	if _, err := c.CoreV1().Pods("default").Create(ctx, pod("a"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err := c.CoreV1().Pods("default").Get(ctx, "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status.Phase != corev1.PodPending || got.UID == "" {
		t.Errorf("phase %q, UID %q", got.Status.Phase, got.UID)
	}
}
