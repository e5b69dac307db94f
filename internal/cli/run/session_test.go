package run

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/test/await"
)

// newTestSession returns a run against a server without a node and controllers: its Jobs do not change.
func newTestSession(t *testing.T) *session {
	t.Helper()
	return newTestSessionThatShows(t, LogsNone, output.NewQuiet(io.Discard, io.Discard, false))
}

func newTestSessionThatShows(t *testing.T, logs Logs, out output.Output) *session {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	dir := t.TempDir()
	s, err := server.Start(ctx, server.Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := s.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("stop the server: %v", err)
		}
	})
	run, err := newSession(Options{Logs: logs, Target: target.Options{DataDir: dir}},
		&target.Target{Kind: target.Embedded, Config: s.RESTConfig()}, out)
	if err != nil {
		t.Fatal(err)
	}
	run.lateDataTimeout = await.Limit
	return run
}

func TestLogsAreReadFromTheNextServerWhereOneHasGone(t *testing.T) {
	out := newEndings()
	s := newTestSessionThatShows(t, LogsAll, out)
	s.follower.pods.begin(t.Context(), nil)
	job := createUnmanaged(t, s, "outlives")
	s.follower.track(job, output.Created, 0)
	endPod(t, s, job, "last words")

	alive, asked := s.target, make(chan struct{}, 10)
	gone := &target.Target{Config: &rest.Config{Host: "127.0.0.1:1", Dial: func(context.Context, string, string) (net.Conn, error) {
		asked <- struct{}{}
		return nil, syscall.ECONNREFUSED
	}}}
	if err := s.use(gone); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.follower.pods.finish(t.Context(), job, 0)
	}()
	<-asked
	if err := s.use(alive); err != nil {
		t.Fatal(err)
	}
	<-read
	select {
	case line := <-out.lines:
		if line != "last words" {
			t.Errorf("the log says %q", line)
		}
	default:
		t.Error("no log was shown")
	}
}

// Between two servers what reads logs and pods tries again, as it does where a server does not listen.
func TestADisconnectedRunTriesAgain(t *testing.T) {
	s := newTestSession(t)
	if err := s.disconnect(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.core().Pods("default").List(t.Context(), metav1.ListOptions{}); !utilnet.IsConnectionRefused(err) {
		t.Errorf("a request fails with %v", err)
	}
}

func TestLogOfAPodThatIsGone(t *testing.T) {
	s := newTestSession(t)
	file := filepath.Join(s.opts.Target.DataDir, "logs", "default_quick_u", "main", "0.log")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("2030-01-01T00:00:00.000000000Z stdout F last words\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "quick", Namespace: "default", UID: "u"}}
	pod.Spec.Containers = []corev1.Container{{Name: "main"}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main",
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
	body, err := s.openLog(t.Context(), pod, &corev1.PodLogOptions{Container: "main", Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if text, err := io.ReadAll(body); err != nil || string(text) != "last words\n" {
		t.Errorf("log %q, %v", text, err)
	}
}
