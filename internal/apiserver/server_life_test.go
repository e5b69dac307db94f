package apiserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
)

func TestWhatWasAcknowledgedSurvivesACrash(t *testing.T) {
	r := start(t)
	const n = 50
	for i := range n {
		must[*corev1.Pod](t)(r.Client().Pods().Create(t.Context(), pod(fmt.Sprintf("p%d", i))))
	}
	// A copy of the files of the running server is what a kill -9 would leave.
	crashed := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(crashed, os.DirFS(r.dir)); err != nil {
		t.Fatal(err)
	}
	after := startIn(t, crashed, nil)
	list := must[*corev1.PodList](t)(after.clientset(t).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}))
	if len(list.Items) != n {
		t.Errorf("%d pods are left of %d", len(list.Items), n)
	}
}

func TestAServerWithoutAListenerServesItsProcess(t *testing.T) {
	s := apiservertest.Start(t)
	must[*corev1.Pod](t)(s.Clientset().CoreV1().Pods("default").Create(t.Context(), pod("a"), metav1.CreateOptions{}))
	if _, err := os.Stat(s.KubeconfigPath()); !os.IsNotExist(err) {
		t.Errorf("a kubeconfig was written: %v", err)
	}
}

func TestStoppingEndsOpenWatches(t *testing.T) {
	r := start(t)
	w, err := r.clientset(t).CoreV1().Pods("").Watch(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	r.stop()
	if _, open := <-w.ResultChan(); open {
		t.Error("the watch goes on")
	}
}

// endless is the log of a container that does not end.
type endless struct{}

func (e endless) AttemptLogs(ctx context.Context, _ string, _ *stintv1.PodResult, _ int32, opts *corev1.PodLogOptions) (io.ReadCloser, error) {
	return e.PodLogs(ctx, nil, opts)
}

func (endless) Incomplete(string, *stintv1.PodResult) string { return "" }

func (endless) PodLogs(ctx context.Context, _ *corev1.Pod, _ *corev1.PodLogOptions) (io.ReadCloser, error) {
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { _ = w.Close() })
	go fmt.Fprintln(w, "one line")
	return r, nil
}

// A client must not take the stop for the end of the log.
func TestStoppingBreaksLogsOff(t *testing.T) {
	r := startIn(t, t.TempDir(), endless{})
	sockets := r.clientset(t)
	inProcess := kubernetes.NewForConfigOrDie(r.RESTConfig())
	must[*corev1.Pod](t)(r.Client().Pods().Create(t.Context(), pod("a")))
	logs := map[string]*bufio.Reader{}
	for name, c := range map[string]*kubernetes.Clientset{"socket": sockets, "in process": inProcess} {
		body := must[io.ReadCloser](t)(c.CoreV1().Pods("default").GetLogs("a", &corev1.PodLogOptions{Follow: true}).Stream(t.Context()))
		defer body.Close()
		logs[name] = bufio.NewReader(body)
		if line, err := logs[name].ReadString('\n'); err != nil || line != "one line\n" {
			t.Fatalf("%s: %q, %v", name, line, err)
		}
	}
	r.stop()
	for name, log := range logs {
		if rest, err := io.ReadAll(log); err == nil {
			t.Errorf("%s: the log ended with %q as if it were whole", name, rest)
		}
	}
}

func TestDiscoveryListsWhatIsServedAndNothingElse(t *testing.T) {
	r := start(t)
	c := r.clientset(t)
	lists, err := c.Discovery().ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, list := range lists {
		for _, resource := range list.APIResources {
			got = append(got, list.GroupVersion+" "+resource.Name)
		}
	}
	slices.Sort(got)
	want := []string{
		"authentication.k8s.io/v1 selfsubjectreviews",
		"authorization.k8s.io/v1 selfsubjectaccessreviews", "authorization.k8s.io/v1 selfsubjectrulesreviews",
		"batch/v1 cronjobs", "batch/v1 jobs",
		"coordination.k8s.io/v1 leases",
		"discovery.k8s.io/v1 endpointslices",
		"events.k8s.io/v1 events", "extensions/v1beta1 jobs", "metrics.k8s.io/v1beta1 nodes", "metrics.k8s.io/v1beta1 pods", "node.k8s.io/v1 runtimeclasses", "stint.dev/v1 resultslices", "stint.dev/v1 scheduledjobs",
		"storage.k8s.io/v1 storageclasses",
		"v1 bindings", "v1 configmaps", "v1 events", "v1 namespaces", "v1 nodes", "v1 persistentvolumeclaims", "v1 persistentvolumes", "v1 pods", "v1 podtemplates", "v1 secrets", "v1 serviceaccounts", "v1 services",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	if _, err := c.AppsV1().Deployments("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("deployments: %v, want NotFound", err)
	}
	version, err := c.Discovery().ServerVersion()
	if err != nil || !strings.HasPrefix(version.GitVersion, "v1.") {
		t.Errorf("version %v, %v", version, err)
	}
	if _, err := c.Discovery().OpenAPISchema(); err != nil {
		t.Errorf("OpenAPI v2: %v", err)
	}
	if paths, err := c.Discovery().OpenAPIV3().Paths(); err != nil || paths["apis/batch/v1"] == nil {
		t.Errorf("OpenAPI v3: %v, %v", paths, err)
	}
}

func TestHealthAndMetricsAreServed(t *testing.T) {
	r := start(t)
	for _, path := range []string{"/healthz", "/livez", "/readyz", "/readyz/watch-caches", "/metrics", "/version"} {
		raw, err := r.clientset(t).RESTClient().Get().AbsPath(path).DoRaw(t.Context())
		if err != nil || len(raw) == 0 {
			t.Errorf("%s: %d bytes, %v", path, len(raw), err)
		}
	}
}

func TestAnEventIsTheSameInBothGroups(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	c := r.clientset(t)
	in := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "e", Namespace: "default"}, EventTime: metav1.NowMicro(),
		ReportingController: "example.com/c", ReportingInstance: "i", Action: "Doing", Reason: "Because", Note: "hello", Type: "Normal",
		Regarding: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "p"},
		Series:    &eventsv1.EventSeries{Count: 2, LastObservedTime: metav1.NowMicro()},
	}
	if _, err := c.EventsV1().Events("default").Create(ctx, in, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	core := must[*corev1.EventList](t)(c.CoreV1().Events("default").List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=p"}))
	if len(core.Items) != 1 || core.Items[0].Message != "hello" || core.Items[0].Series.Count != 2 || core.Items[0].ReportingController != "example.com/c" {
		t.Errorf("in core/v1: %v", core.Items)
	}
	news := must[*eventsv1.EventList](t)(c.EventsV1().Events("default").List(ctx, metav1.ListOptions{FieldSelector: "regarding.name=p"}))
	if len(news.Items) != 1 || news.Items[0].Note != "hello" || news.Items[0].Regarding.Kind != "Pod" {
		t.Errorf("in events.k8s.io/v1: %v", news.Items)
	}
}

func TestNamespacesRuleWhatIsMadeInThem(t *testing.T) {
	r := start(t)
	ctx := t.Context()
	c := r.clientset(t)
	for _, name := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
		if _, err := c.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.CoreV1().Namespaces().Delete(ctx, "default", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("delete default: %v, want Forbidden", err)
	}
	_, err := c.CoreV1().ConfigMaps("none").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m"}}, metav1.CreateOptions{})
	if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), `namespaces "none"`) {
		t.Errorf("create in a missing namespace: %v", err)
	}
	ns := must[*corev1.Namespace](t)(c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{}))
	must[*corev1.Event](t)(c.CoreV1().Events("n").Create(ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "e"}, Reason: "Because", Source: corev1.EventSource{Component: "test"},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "n", Name: "p"},
	}, metav1.CreateOptions{}))
	if err := c.CoreV1().Namespaces().Delete(ctx, "n", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err = c.CoreV1().ConfigMaps("n").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m"}}, metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) || !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("create in a terminating namespace: %v", err)
	}
	if got := must[*corev1.EventList](t)(c.CoreV1().Events("n").List(ctx, metav1.ListOptions{})); len(got.Items) != 1 {
		t.Fatalf("%d events before the end", len(got.Items))
	}
	ns.Spec.Finalizers = nil
	ns.ResourceVersion = ""
	if _, err := c.CoreV1().Namespaces().Finalize(ctx, ns, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CoreV1().Namespaces().Get(ctx, "n", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after finalize: %v, want NotFound", err)
	}
	if got := must[*corev1.EventList](t)(c.CoreV1().Events("n").List(ctx, metav1.ListOptions{})); len(got.Items) != 0 {
		t.Errorf("%d events outlive their namespace", len(got.Items))
	}
}
