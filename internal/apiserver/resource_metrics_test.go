package apiserver_test

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"k8s.io/metrics/pkg/client/clientset/versioned"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
)

// measured is a source in which all pods but "idle" use a mebibyte.
type measured struct{ err error }

func (s measured) PodMetrics(_ context.Context, pods []*corev1.Pod) ([]metricsv1beta1.PodMetrics, error) {
	var metrics []metricsv1beta1.PodMetrics
	for _, p := range pods {
		if p.Name == "idle" {
			continue
		}
		usage := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Mi")}
		metrics = append(metrics, metricsv1beta1.PodMetrics{
			ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace},
			Containers: []metricsv1beta1.ContainerMetrics{{Name: "main", Usage: usage}},
		})
	}
	return metrics, s.err
}

func (measured) NodeMetrics(context.Context, []*corev1.Node) ([]metricsv1beta1.NodeMetrics, error) {
	return nil, nil
}

func metricsOf(t *testing.T, source apiserver.ResourceMetrics) versioned.Interface {
	t.Helper()
	s := apiservertest.Start(t, apiservertest.In(t.TempDir()), apiservertest.Listening(t), func(c *apiserver.Config) {
		if source != nil {
			c.Metrics = func() (apiserver.ResourceMetrics, error) { return source, nil }
		}
	})
	for _, p := range []struct{ namespace, name, label string }{{"default", "busy", "x"}, {"default", "idle", "x"}, {"default", "other", "y"}, {"kube-system", "far", "x"}} {
		pod := pod(p.name)
		pod.Namespace, pod.Labels = p.namespace, map[string]string{"l": p.label}
		must[*corev1.Pod](t)(s.Clientset().CoreV1().Pods(p.namespace).Create(t.Context(), pod, metav1.CreateOptions{}))
	}
	config, err := clientcmd.BuildConfigFromFlags("", s.KubeconfigPath())
	if err != nil {
		t.Fatal(err)
	}
	clients, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

func TestMetricsAreMeasuredWhenTheyAreAskedFor(t *testing.T) {
	clients := metricsOf(t, measured{}).MetricsV1beta1()
	for name, test := range map[string]struct {
		namespace, labels, fields string
		want                      []string
	}{
		"all":         {want: []string{"busy", "other", "far"}},
		"a namespace": {namespace: "default", want: []string{"busy", "other"}},
		"labels":      {namespace: "default", labels: "l=x", want: []string{"busy"}},
		"fields":      {namespace: "default", fields: "metadata.name=other", want: []string{"other"}},
		"none":        {namespace: "kube-public"},
	} {
		list, err := clients.PodMetricses(test.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: test.labels, FieldSelector: test.fields})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := map[string]bool{}
		for _, m := range list.Items {
			got[m.Name] = true
		}
		for _, name := range test.want {
			if !got[name] {
				t.Errorf("%s: %q is missing", name, name)
			}
		}
		if len(got) != len(test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
	page, err := clients.PodMetricses("").List(t.Context(), metav1.ListOptions{Limit: 1})
	if err != nil || page.Continue == "" || page.RemainingItemCount == nil {
		t.Errorf("%v: a page of a list says %+v", err, page.ListMeta)
	}
	one, err := clients.PodMetricses("default").Get(t.Context(), "busy", metav1.GetOptions{})
	if err != nil || one.Name != "busy" || one.Containers[0].Usage.Memory().String() != "1Mi" {
		t.Errorf("%v: %+v", err, one)
	}
	for _, name := range []string{"idle", "nowhere"} {
		if _, err := clients.PodMetricses("default").Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	nodes, err := clients.NodeMetricses().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 0 {
		t.Errorf("%v: %+v", err, nodes)
	}
}

func TestMetricsThatCannotBeMeasured(t *testing.T) {
	for name, source := range map[string]apiserver.ResourceMetrics{"no node": nil, "an old host": measured{errors.New("too old")}} {
		clients := metricsOf(t, source).MetricsV1beta1()
		_, err := clients.PodMetricses("default").Get(t.Context(), "busy", metav1.GetOptions{})
		_, listing := clients.PodMetricses("default").List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsServiceUnavailable(err) || !apierrors.IsServiceUnavailable(listing) {
			t.Errorf("%s: %v, %v", name, err, listing)
		}
	}
}
