package server_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"

	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/test/await"
)

// answerProbes is what a pod does that is this test's program: it says of each path whether there is a file of that name. Paths
// below /await/ it answers when there is one. A client that does not ask for this address is refused.
func answerProbes(address, dir string) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		found := func() bool {
			_, err := os.Stat(filepath.Join(dir, filepath.Base(r.URL.Path)))
			return err == nil
		}
		for filepath.Dir(r.URL.Path) == "/await" && !found() {
			<-time.After(50 * time.Millisecond)
		}
		if r.Host != address || !found() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
	panic(http.ListenAndServe(address, http.HandlerFunc(answer)))
}

// probed is a pod that is ready while there is a file ready, and is stopped when there is a file over.
func probed(t *testing.T, dir string) *corev1.Pod {
	get := func(path string) *corev1.HTTPGetAction {
		return &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("web")}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "probed", Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "none", Command: []string{program(t), "answer", "$(POD_IP):8080", dir},
			Env:   []corev1.EnvVar{{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}}},
			Ports: []corev1.ContainerPort{{Name: "web", ContainerPort: 8080}},
			ReadinessProbe: &corev1.Probe{
				PeriodSeconds: 1, FailureThreshold: 1, TimeoutSeconds: int32(await.Limit / time.Second), ProbeHandler: corev1.ProbeHandler{HTTPGet: get("/ready")},
			},
			Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{HTTPGet: get("/await/over")}},
		}}},
	}
}

// conditions are those of the only endpoint of a Service; an empty string if there is none.
func conditions(t *testing.T, c kubernetes.Interface, service string) string {
	t.Helper()
	list, err := c.DiscoveryV1().EndpointSlices("default").List(t.Context(), metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + service})
	if err != nil || len(list.Items) != 1 || len(list.Items[0].Endpoints) != 1 {
		return ""
	}
	is := list.Items[0].Endpoints[0].Conditions
	return fmt.Sprintf("ready=%t serving=%t terminating=%t", *is.Ready, *is.Serving, *is.Terminating)
}

func TestProbesInAPodsNetworkDecideWhoIsBehindAService(t *testing.T) {
	s, _ := start(t, server.Options{DataDir: t.TempDir(), Node: true})
	c := clientOf(t, s)
	spec := corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromString("web")}}}
	createService(t, c, "web", spec)
	spec.PublishNotReadyAddresses = true
	createService(t, c, "all", spec)
	dir := t.TempDir()
	pod, err := c.CoreV1().Pods("default").Create(t.Context(), probed(t, dir), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the pod has started", func() bool {
		pod, err = c.CoreV1().Pods("default").Get(t.Context(), pod.Name, metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning
	})
	if pod.Status.PodIP == pod.Status.HostIP {
		t.Skip("pods cannot have networks here")
	}
	ready, over := filepath.Join(dir, "ready"), filepath.Join(dir, "over")
	for _, step := range []struct {
		what     string
		do       func() error
		web, all string
	}{
		{"it is not ready", func() error { return nil }, "ready=false serving=false terminating=false", "ready=true serving=false terminating=false"},
		{"it is ready", func() error { return os.WriteFile(ready, nil, 0o600) }, "ready=true serving=true terminating=false", "ready=true serving=true terminating=false"},
		{"no more", func() error { return os.Remove(ready) }, "ready=false serving=false terminating=false", "ready=true serving=false terminating=false"},
		{"again", func() error { return os.WriteFile(ready, nil, 0o600) }, "ready=true serving=true terminating=false", "ready=true serving=true terminating=false"},
		{"it ends", func() error { return c.CoreV1().Pods("default").Delete(t.Context(), pod.Name, metav1.DeleteOptions{}) },
			"ready=false serving=true terminating=true", "ready=true serving=true terminating=true"},
		{"it has ended", func() error { return os.WriteFile(over, nil, 0o600) }, "", ""},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		await.Until(t, step.what, func() bool { return conditions(t, c, "web") == step.web && conditions(t, c, "all") == step.all })
	}
}
