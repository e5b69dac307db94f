package server_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

func TestMain(m *testing.M) {
	if handled, code := process.HostMain(os.Args); handled {
		os.Exit(code)
	}
	if handled, code := store.ChildMain(os.Args); handled {
		os.Exit(code)
	}
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "ask":
			askServers(os.Args[2:])
			return
		case "meet":
			meet(os.Args[2:])
			return
		case "answer":
			answerProbes(os.Args[2], os.Args[3])
			return
		case "greet":
			greetAll(os.Args[2], os.Args[3])
			return
		case "hear":
			hear(os.Args[2:])
			return
		}
	}
	os.Exit(m.Run())
}

// start starts a server that stops with the test, or earlier by the returned function.
func start(t *testing.T, o server.Options) (*server.Server, func()) {
	t.Helper()
	s, stop, err := tryToStart(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return s, stop
}

func tryToStart(t *testing.T, o server.Options) (*server.Server, func(), error) {
	t.Helper()
	if o.Node {
		t.Cleanup(func() { endContainers(t, o.DataDir) })
	}
	ctx, cancel := context.WithCancel(t.Context())
	s, err := server.Start(ctx, o)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	stop := func() {
		cancel()
		if err := s.Wait(); err != nil {
			t.Errorf("the server stopped with %v", err)
		}
	}
	t.Cleanup(stop)
	return s, stop, nil
}

// endContainers ends what has outlived a server. The host process ends soon after.
func endContainers(t *testing.T, dataDir string) {
	ctx, cancel := context.WithTimeout(context.Background(), await.Limit)
	defer cancel()
	containers, err := process.Start(ctx, process.Config{Dir: dataDir, IdleExit: time.Second})
	if err != nil {
		t.Errorf("find what has outlived the server: %v", err)
		return
	}
	defer containers.Close()
	all, err := containers.List(ctx)
	if err != nil {
		t.Error(err)
	}
	for _, s := range all {
		if err := containers.RemovePod(ctx, s.PodUID, ""); err != nil {
			t.Error(err)
		}
	}
}

func job(name string, command ...string) *batchv1.Job {
	return wrappers.MakeJob(name).Namespace("default").Containers("main").Command(command...).Obj()
}

func clientOf(t *testing.T, s *server.Server) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(s.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func complete(t *testing.T, c kubernetes.Interface, name string) {
	t.Helper()
	await.Until(t, "job "+name+" completes", func() bool {
		j, err := c.BatchV1().Jobs("default").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == batchv1.JobComplete })
	})
}

func logOf(t *testing.T, c kubernetes.Interface, job string) string {
	t.Helper()
	pods, err := c.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=" + job})
	if err != nil || len(pods.Items) != 1 {
		t.Fatalf("%d pods of job %s: %v", len(pods.Items), job, err)
	}
	log, err := c.CoreV1().Pods("default").GetLogs(pods.Items[0].Name, &corev1.PodLogOptions{}).DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}

func TestJobRunsAndCanBeReadWhenNothingRunsAnyMore(t *testing.T) {
	dir := t.TempDir()
	s, stop := start(t, server.Options{DataDir: dir, Node: true, EventDrainTime: await.Limit})
	c := clientOf(t, s)
	if _, err := c.BatchV1().Jobs("default").Create(t.Context(), job("hello", "echo", "hello"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	complete(t, c, "hello")
	if got := logOf(t, c, "hello"); got != "hello\n" {
		t.Errorf("log %q", got)
	}
	stop()

	s, _ = start(t, server.Options{DataDir: dir, ReadOnly: true})
	c = clientOf(t, s)
	if got := logOf(t, c, "hello"); got != "hello\n" {
		t.Errorf("stored log %q", got)
	}
	events, err := c.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=hello,reason=Completed"})
	if err != nil || len(events.Items) != 1 {
		t.Errorf("%d Completed events outlived the server: %v", len(events.Items), err)
	}
}

func TestJobGoesOnUnderTheNextServer(t *testing.T) {
	dir := t.TempDir()
	s, stop := start(t, server.Options{DataDir: dir, Node: true})
	c := clientOf(t, s)
	gate := t.TempDir() + "/gate"
	waits := job("waits", "sh", "-c", "echo begun; until [ -e "+gate+" ]; do sleep 0.05; done; echo done")
	if _, err := c.BatchV1().Jobs("default").Create(t.Context(), waits, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	running(t, c)
	stop()
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	s, _ = start(t, server.Options{DataDir: dir, Node: true})
	c = clientOf(t, s)
	complete(t, c, "waits")
	if got := logOf(t, c, "waits"); got != "begun\ndone\n" {
		t.Errorf("the container ran as %q, want once, to its end", got)
	}
}

func TestJobGoesWithItsPodsWhenItsTimeIsOver(t *testing.T) {
	s, _ := start(t, server.Options{DataDir: t.TempDir(), Node: true})
	c := clientOf(t, s)
	jobs := c.BatchV1().Jobs("default")
	for name, ttl := range map[string]*int32{"at-once": ptr.To[int32](0), "later": ptr.To[int32](1000), "never": nil} {
		j := job(name, "true")
		j.Spec.TTLSecondsAfterFinished = ttl
		if _, err := jobs.Create(t.Context(), j, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	complete(t, c, "never")
	complete(t, c, "later")
	gone(t, c, "at-once")
	if _, err := jobs.Patch(t.Context(), "later", types.MergePatchType, []byte(`{"spec":{"ttlSecondsAfterFinished":0}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, c, "later")
	if got := logOf(t, c, "never"); got != "" {
		t.Errorf("log %q of a Job that stays", got)
	}
}

func gone(t *testing.T, c kubernetes.Interface, job string) {
	t.Helper()
	await.Until(t, "job "+job+" and its pods go", func() bool {
		pods, err := c.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=" + job})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.BatchV1().Jobs("default").Get(t.Context(), job, metav1.GetOptions{})
		return len(pods.Items) == 0 && apierrors.IsNotFound(err)
	})
}

func running(t *testing.T, c kubernetes.Interface) {
	t.Helper()
	await.Until(t, "a pod runs", func() bool {
		pods, err := c.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{FieldSelector: "status.phase=Running"})
		if err != nil {
			t.Fatal(err)
		}
		return len(pods.Items) == 1
	})
}

func TestRefusesWhatAnotherHolds(t *testing.T) {
	dir := t.TempDir()
	start(t, server.Options{DataDir: dir})
	if _, err := server.Start(t.Context(), server.Options{DataDir: dir}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("second server on one data directory: %v", err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	for flag, o := range map[string]server.Options{
		"--listen":               {DataDir: t.TempDir(), Listen: address},
		"--metrics-bind-address": {DataDir: t.TempDir(), MetricsListen: address},
	} {
		if _, err := server.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), flag) {
			t.Errorf("address in use: %v, want it to name %s and %s", err, address, flag)
		}
		// A failed start has closed the data directory, so that it can be used again.
		o.Listen, o.MetricsListen = "", ""
		start(t, o)
	}
}

func TestMetricsEndpoint(t *testing.T) {
	address := startWithMetrics(t)
	for path, want := range map[string]string{"/healthz": "ok", "/readyz": "ok", "/metrics": "etcd_mvcc_db_total_size_in_use_in_bytes"} {
		response, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s: %s, %v, without %q", path, response.Status, err, want)
		}
	}
}

// startWithMetrics starts a server that serves metrics. It tries other addresses if another process has taken the free one.
func startWithMetrics(t *testing.T) (address string) {
	t.Helper()
	for {
		address := freeAddress(t)
		_, _, err := tryToStart(t, server.Options{DataDir: t.TempDir(), MetricsListen: address})
		if err == nil {
			return address
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Fatal(err)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
