package node_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node"
)

// fullStore is a client whose pods cannot be written while the store refuses that, as one whose disk is full does.
type fullStore struct {
	client.Interface
	refuses atomic.Bool
}

type podsOfFullStore struct {
	client.Resource[*corev1.Pod]
	store *fullStore
}

func (s *fullStore) Pods() client.Resource[*corev1.Pod] {
	return podsOfFullStore{s.Interface.Pods(), s}
}

func (r podsOfFullStore) ModifyStatus(ctx context.Context, pod *corev1.Pod, change func(*corev1.Pod)) (*corev1.Pod, error) {
	if r.store.refuses.Load() {
		return nil, errors.New("the store refuses writes")
	}
	return r.Resource.ModifyStatus(ctx, pod, change)
}

func (r podsOfFullStore) Delete(ctx context.Context, pod *corev1.Pod, o client.DeleteOptions) error {
	if r.store.refuses.Load() {
		return errors.New("the store refuses writes")
	}
	return r.Resource.Delete(ctx, pod, o)
}

// scratchOf is the directory of the volume that withScratch gives to a pod.
func (h *testNode) scratchOf(uid types.UID) string {
	return filepath.Join(h.dir, "pods", string(uid), "volumes", "scratch")
}

func (h *testNode) untilFreed(uid types.UID) {
	h.t.Helper()
	h.eventually("the volume is gone", func() bool { return !exists(h.scratchOf(uid)) }, func() any { return uid })
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// startOnSmallDisk starts a node with real processes on a file system so small that it counts as short.
func startOnSmallDisk(t *testing.T, change func(*node.Config)) (*testNode, *fullStore) {
	disk := smallDisk(t)
	rt := processes(t, disk)
	if !rt.Info().CanMount {
		t.Skip("volumes cannot be shown here: " + rt.Info().WhyNoMount)
	}
	h := newTestNode(t, rt)
	store := &fullStore{Interface: h.client}
	h.dir = disk
	h.startNode(func(c *node.Config) {
		c.Client = store
		c.ReportAfter(time.Millisecond)
		change(c)
	})
	return h, store
}

func seldom(c *node.Config) { c.CheckDiskEvery(time.Hour) }

func TestVolumesOfAnEndedPodAreFreedBeforeItsEndIsStored(t *testing.T) {
	h, store := startOnSmallDisk(t, seldom)
	script := write + "/scratch/file; echo printed; echo told > /dev/termination-log; until test -e /scratch/go; do sleep 0.05; done; exit 3"
	pod := h.create(build("ends", shell(script), withScratch("30Mi")))
	restarts := h.create(build("restarts", shell(script), func(p *corev1.Pod) {
		withScratch("30Mi")(p)
		p.Spec.RestartPolicy = corev1.RestartPolicyAlways
	}))
	h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
	h.until(restarts, "the pod that restarts runs", inPhase(corev1.PodRunning))
	store.refuses.Store(true)
	fill(t, filepath.Join(h.scratchOf(restarts.UID), "go"), 0)
	fill(t, filepath.Join(h.scratchOf(pod.UID), "go"), 0)
	h.untilFreed(pod.UID)
	if !exists(filepath.Join(h.scratchOf(restarts.UID), "file")) {
		t.Error("a pod that will restart has lost its files")
	}
	store.refuses.Store(false)
	got := h.until(pod, "its end is stored", inPhase(corev1.PodFailed))
	end := got.Status.ContainerStatuses[0].State.Terminated
	if end == nil || end.ExitCode != 3 || end.Message != "told\n" {
		t.Errorf("it ended as %+v", end)
	}
	h.logged(got, "main", "printed\n")
}

func TestVolumesOfADeletedPodAreFreedBeforeItIsGone(t *testing.T) {
	h, store := startOnSmallDisk(t, seldom)
	pod := h.create(build("deleted", shell("until test -e /scratch/go; do sleep 0.05; done"), func(p *corev1.Pod) {
		withScratch("30Mi")(p)
		p.Spec.TerminationGracePeriodSeconds = ptr.To(int64(1))
	}))
	h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
	store.refuses.Store(true)
	if err := h.client.Pods().Delete(t.Context(), pod, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	h.untilFreed(pod.UID)
	store.refuses.Store(false)
	h.until(pod, "the pod is gone", gone)
}
