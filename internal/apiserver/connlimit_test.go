package apiserver_test

import (
	"net"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/stint-dev/stint/internal/connlimit"
	"github.com/stint-dev/stint/test/await"
)

// Idle unauthenticated connections once used up all file descriptors of the process.
func TestUnauthenticatedConnectionsDoNotKeepClientsOut(t *testing.T) {
	r := start(t)
	owner := r.clientset(t)
	changes, err := owner.CoreV1().Pods("default").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer changes.Stop()
	address := strings.TrimPrefix(r.http.Host, "https://")
	for range 2 * connlimit.MaxUnauthenticated() {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	// A new client, and so a new connection.
	made := must[*corev1.Pod](t)(r.clientset(t).CoreV1().Pods("default").Create(t.Context(), pod("a"), metav1.CreateOptions{}))
	for {
		event := await.Value(t, "the watch that was open goes on", changes.ResultChan())
		if event.Type == watch.Added && event.Object.(*corev1.Pod).UID == made.UID {
			return
		}
	}
}
