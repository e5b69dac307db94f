package kube_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/stint-dev/stint/test/kube"
)

func TestClusterKeepsItsDataOverARestart(t *testing.T) {
	const user = "system:serviceaccount:default:nobody"
	c := kube.ForTest(t, kube.Options{Users: []string{user}})
	c.StopAPIServer()
	if _, err := net.Dial("tcp", c.Config().Host); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("while no process listens, a connection fails with: %v", err)
	}
	if _, err := net.Listen("tcp", c.Config().Host); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("while the API server is away, another takes its port: %v", err)
	}
	c.RestartAPIServer(t)
	_, err := kubernetes.NewForConfigOrDie(c.Config()).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
	if err != nil {
		t.Error(err)
	}
	_, err = kubernetes.NewForConfigOrDie(c.UserConfig(user)).BatchV1().Jobs("default").List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("a user without a role lists Jobs: %v", err)
	}
}
