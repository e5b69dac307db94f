package apiserver_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/test/await"
)

// countBytes answers each connection with the number of bytes that it has received when the client has no more.
func countBytes(t *testing.T) (port int) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				n, _ := io.Copy(io.Discard, conn)
				fmt.Fprint(conn, n)
			}()
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port
}

// dialers open connections of the API for port forwarding.
var dialers = map[string]func(*url.URL, *rest.Config) (httpstream.Dialer, error){
	"WebSocket": portforward.NewSPDYOverWebsocketDialerForStreaming,
	"SPDY": func(address *url.URL, config *rest.Config) (httpstream.Dialer, error) {
		transport, upgrader, err := spdy.RoundTripperFor(config)
		if err != nil {
			return nil, err
		}
		return spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, "POST", address), nil
	},
}

func TestPortsAreForwarded(t *testing.T) {
	s := apiservertest.Start(t, apiservertest.In(t.TempDir()), apiservertest.Listening(t), func(c *apiserver.Config) {
		c.Pods = func() (apiserver.PodAccess, error) { return commands{}, nil }
	})
	config, err := clientcmd.BuildConfigFromFlags("", s.KubeconfigPath())
	if err != nil {
		t.Fatal(err)
	}
	pods := s.Clientset().CoreV1().Pods("default")
	box := must[*corev1.Pod](t)(pods.Create(t.Context(), pod("box"), metav1.CreateOptions{}))
	box.Status.Phase = corev1.PodRunning
	must[*corev1.Pod](t)(pods.UpdateStatus(t.Context(), box, metav1.UpdateOptions{}))
	address, err := url.Parse(config.Host + "/api/v1/namespaces/default/pods/box/portforward")
	if err != nil {
		t.Fatal(err)
	}
	remote := countBytes(t)
	for name, dial := range dialers {
		t.Run(name, func(t *testing.T) {
			dialer, err := dial(address, config)
			if err != nil {
				t.Fatal(err)
			}
			local := forward(t, dialer, remote)
			var all sync.WaitGroup
			for i := range 50 {
				all.Go(func() { checkCount(t, local, 1000*i) })
			}
			all.Wait()
			checkCount(t, local, 10<<20)
		})
	}
}

// forward forwards a free port to the remote one, as long as the test runs.
func forward(t *testing.T, dialer httpstream.Dialer, remote int) (local int) {
	t.Helper()
	stop, ready, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	f, err := portforward.NewForStreaming(dialer, []string{fmt.Sprint(":", remote)}, stop, ready, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	go func() { done <- f.ForwardPorts() }()
	t.Cleanup(func() {
		close(stop)
		await.Value(t, "the end of the forwarding", done)
	})
	select {
	case <-ready:
	case err := <-done:
		done <- err
		t.Fatal(err)
	}
	ports, err := f.GetPorts()
	if err != nil {
		t.Fatal(err)
	}
	return int(ports[0].Local)
}

// checkCount sends bytes, closes its half of the connection and reads the answer.
func checkCount(t *testing.T, port, bytesToSend int) {
	conn, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", port))
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	if _, err := conn.Write(bytes.Repeat([]byte{'x'}, bytesToSend)); err != nil {
		t.Error(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Error(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || string(answer) != fmt.Sprint(bytesToSend) {
		t.Errorf("%d bytes were sent, %q arrived: %v", bytesToSend, answer, err)
	}
}
