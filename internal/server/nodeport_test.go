package server_test

import (
	"fmt"
	"io"
	"net"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/test/await"
)

// greetAll is what a pod does that is this test's program: it greets each client with a text.
func greetAll(address, text string) {
	listener, err := net.Listen("tcp4", address)
	if err != nil {
		panic(err)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		fmt.Fprint(conn, text)
		conn.Close()
	}
}

// takeNodePort listens on a node port that was free.
func takeNodePort(t *testing.T) (net.Listener, int32) {
	t.Helper()
	for port := int32(30000); port < 32768; port++ {
		if listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return listener, port
		}
	}
	t.Fatal("all node ports are taken")
	return nil, 0
}

func TestANodePortThatWasTakenLeadsToAPod(t *testing.T) {
	s, _ := start(t, server.Options{DataDir: t.TempDir(), Node: true})
	c := clientOf(t, s)
	defer endJobs(t, c)
	other, port := takeNodePort(t)
	createService(t, c, "web", corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Selector: map[string]string{"job-name": "web"},
		Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080), NodePort: port}}})
	createJob(t, c, job("web", program(t), "greet", "0.0.0.0:8080", "hello"))
	if pod := podOf(t, c, "web"); pod.Status.PodIP == pod.Status.HostIP {
		other.Close()
		t.Skip("pods cannot have networks here")
	}
	await.Until(t, "the Service has an event", func() bool {
		events, err := c.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=web,reason=NodePortTaken"})
		return err == nil && len(events.Items) == 1
	})
	other.Close()
	address := fmt.Sprintf("127.0.0.1:%d", port)
	await.Until(t, "the node port leads to the pod", func() bool {
		conn, err := net.Dial("tcp4", address)
		if err != nil {
			return false
		}
		defer conn.Close()
		text, err := io.ReadAll(conn)
		return err == nil && string(text) == "hello"
	})
	if err := c.CoreV1().Services("default").Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the node port is free", func() bool {
		listener, err := net.Listen("tcp4", address)
		if err == nil {
			listener.Close()
		}
		return err == nil
	})
}
