package verbs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/test/wrappers"
)

// heldPod starts a server with a deleted pod that a finalizer keeps.
func heldPod(t *testing.T) (*server.Server, kubernetes.Interface) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s, err := server.Start(ctx, server.Options{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		if err := s.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("stop the server: %v", err)
		}
	})
	client, err := kubernetes.NewForConfig(s.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	pods := client.CoreV1().Pods("default")
	held := wrappers.MakePod("held").Finalizers("example.com/hold").Command("true").Obj()
	if _, err := pods.Create(t.Context(), held, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := pods.Delete(t.Context(), "held", metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}); err != nil {
		t.Fatal(err)
	}
	return s, client
}

func TestDeletionDoesNotWaitForeverForWhatDoesNotGo(t *testing.T) {
	s, client := heldPod(t)
	err := waitForPods(t.Context(), client, io.Discard, time.Millisecond)
	want := "still terminating: pod default/held (finalizer example.com/hold)"
	if err == nil || err.Error() != want {
		t.Errorf("the deletion ended with %v", err)
	}
	var said bytes.Buffer
	printFinalizers(t.Context(), s.RESTConfig(), &said)
	want = "waiting for pod default/held (finalizer example.com/hold); Ctrl-C stops waiting\n"
	if diff := cmp.Diff(want, said.String()); diff != "" {
		t.Error(diff)
	}
}
