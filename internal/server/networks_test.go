package server_test

import (
	"net/netip"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/test/await"
)

// podOf waits until the pod of a Job has started.
func podOf(t *testing.T, c kubernetes.Interface, job string) (pod *corev1.Pod) {
	t.Helper()
	await.Until(t, "the pod of "+job+" has started", func() bool {
		list, err := c.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "job-name=" + job})
		if err == nil && len(list.Items) == 1 && list.Items[0].Status.PodIP != "" && list.Items[0].Status.Phase != corev1.PodPending {
			pod = &list.Items[0]
		}
		return pod != nil
	})
	return pod
}

func createJob(t *testing.T, c kubernetes.Interface, j *batchv1.Job) {
	t.Helper()
	if _, err := c.BatchV1().Jobs(j.Namespace).Create(t.Context(), j, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// endJobs deletes all Jobs with their pods, which would outlive the test. It is deferred, as the server ends before cleanups.
func endJobs(t *testing.T, c kubernetes.Interface) {
	t.Helper()
	jobs, err := c.BatchV1().Jobs("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	now := metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground), GracePeriodSeconds: ptr.To[int64](0)}
	for _, j := range jobs.Items {
		if err := c.BatchV1().Jobs(j.Namespace).Delete(t.Context(), j.Name, now); err != nil {
			t.Error(err)
		}
	}
	await.Until(t, "the pods are gone", func() bool {
		list, err := c.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		return err == nil && len(list.Items) == 0
	})
}

func TestPodsBesideAServiceHaveNetworksAndFindItByName(t *testing.T) {
	dir := t.TempDir()
	s, stop := start(t, server.Options{DataDir: dir, Node: true})
	c := clientOf(t, s)
	createJob(t, c, job("before", "true"))
	if pod := podOf(t, c, "before"); pod.Status.PodIP != pod.Status.HostIP {
		t.Errorf("without a Service the pod has the address %s", pod.Status.PodIP)
	}
	createService(t, c, "web", corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80}}})
	script := "echo $WEB_SERVICE_PORT $KUBERNETES_SERVICE_PORT; cat /etc/resolv.conf; sleep 1000"
	createJob(t, c, job("first", "sh", "-c", script))
	first := podOf(t, c, "first")
	if first.Status.PodIP == first.Status.HostIP {
		t.Skip("pods cannot have networks here")
	}
	createJob(t, c, job("second", "sh", "-c", script))
	second := podOf(t, c, "second")
	if first.Status.PodIP == second.Status.PodIP {
		t.Errorf("both have the address %s", first.Status.PodIP)
	}
	await.Until(t, "the first pod has printed", func() bool { return strings.Contains(logOf(t, c, "first"), "search default.svc.cluster.local") })
	if out := logOf(t, c, "first"); !strings.HasPrefix(out, "80 443\n") {
		t.Errorf("the ports of Services are not in its environment: %s", out)
	}
	machine := job("machine", "sleep", "1000")
	machine.Spec.Template.Spec.HostNetwork = true
	createJob(t, c, machine)
	if pod := podOf(t, c, "machine"); pod.Status.PodIP != pod.Status.HostIP {
		t.Errorf("a pod of the machine's network has the address %s", pod.Status.PodIP)
	}
	stop()
	s, _ = start(t, server.Options{DataDir: dir, Node: true})
	c = clientOf(t, s)
	defer endJobs(t, c)
	if again := podOf(t, c, "first"); again.Status.PodIP != first.Status.PodIP {
		t.Errorf("after a restart: %s, before %s", again.Status.PodIP, first.Status.PodIP)
	}
	createJob(t, c, job("third", "sleep", "1000"))
	if third := podOf(t, c, "third"); third.Status.PodIP == first.Status.PodIP || third.Status.PodIP == second.Status.PodIP || !netip.MustParseAddr(third.Status.PodIP).IsPrivate() {
		t.Errorf("the third has the address %s", third.Status.PodIP)
	}
}
