package server_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/test/await"
)

// hear is what a pod does that is this test's program: it prints how each address greets it.
func hear(addresses []string) {
	for _, address := range addresses {
		fmt.Println(address, "is", awaitGreeting(address))
	}
}

// queueIn creates a Service whose pod listens on all its addresses, and a pod that asks it by the names that each namespace has
// for it.
func queueIn(t *testing.T, c kubernetes.Interface, namespace string) {
	t.Helper()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "queue"},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"job-name": "queue"}, Ports: []corev1.ServicePort{{Port: 6379}}},
	}
	if _, err := c.CoreV1().Services(namespace).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	queue := job("queue", program(t), "greet", "0.0.0.0:6379", namespace)
	// The second container shares the network of the first, and so its loopback address. It stays, as the pod is not ready else.
	beside := queue.Spec.Template.Spec.Containers[0].DeepCopy()
	beside.Name, beside.Command = "beside", []string{"sh", "-c", "'" + program(t) + "' hear 127.0.0.1:6379; exec sleep 1000"}
	queue.Spec.Template.Spec.Containers = append(queue.Spec.Template.Spec.Containers, *beside)
	queue.Namespace = namespace
	createJob(t, c, queue)
	client := job("client", program(t), "hear", "queue:6379", "queue.default:6379", "queue.other:6379")
	client.Namespace = namespace
	createJob(t, c, client)
}

// awaitLog waits until a container of the one pod of a Job has printed want.
func awaitLog(t *testing.T, c kubernetes.Interface, namespace, job, container, want string) {
	t.Helper()
	got := ""
	await.Until(t, fmt.Sprintf("%s in %s has printed %q", job, namespace, want), func() bool {
		pods, err := c.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "job-name=" + job})
		if err != nil || len(pods.Items) != 1 {
			return false
		}
		log, err := c.CoreV1().Pods(namespace).GetLogs(pods.Items[0].Name, &corev1.PodLogOptions{Container: container}).DoRaw(t.Context())
		got = string(log)
		return err == nil && len(got) >= len(want)
	})
	if got != want {
		t.Errorf("%s in %s has printed\n%swant\n%s", job, namespace, got, want)
	}
}

func TestPodsOfTwoNamespacesListenOnTheSamePort(t *testing.T) {
	s, _ := start(t, server.Options{DataDir: t.TempDir(), Node: true})
	c := clientOf(t, s)
	defer endJobs(t, c)
	createJob(t, c, withSubdomain(job("probe", "sleep", "1000"), "any"))
	if pod := podOf(t, c, "probe"); pod.Status.PodIP == pod.Status.HostIP {
		t.Skip("pods cannot have networks here")
	}
	if _, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	namespaces := []string{"default", "other"}
	for _, namespace := range namespaces {
		queueIn(t, c, namespace)
	}
	for _, namespace := range namespaces {
		awaitLog(t, c, namespace, "queue", "beside", "127.0.0.1:6379 is "+namespace+"\n")
		awaitLog(t, c, namespace, "client", "main",
			"queue:6379 is "+namespace+"\nqueue.default:6379 is default\nqueue.other:6379 is other\n")
	}
}
