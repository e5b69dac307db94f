package kube_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/stint-dev/stint/test/kube"
)

func TestAPIServerKeepsItsDataOverARestart(t *testing.T) {
	const user = "system:serviceaccount:default:nobody"
	c := kube.ForTest(t, kube.Options{Users: []string{user}})
	c.StopAPIServer()
	if err := c.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := kubernetes.NewForConfigOrDie(c.Config()).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
	if err != nil {
		t.Error(err)
	}
	_, err = kubernetes.NewForConfigOrDie(c.UserConfig(user)).BatchV1().Jobs("default").List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("a user without a role lists Jobs: %v", err)
	}
}
