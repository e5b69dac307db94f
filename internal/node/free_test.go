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
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/smalldisk"
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

// onSmallDisk calls do with a node that runs real processes on a file system so small that it counts as short.
func onSmallDisk(t *testing.T, change func(*node.Config), do func(*testNode, *fullStore)) {
	smalldisk.Run(t, 64, func(disk string) {
		rt := processes(t, disk)
		if !rt.Info().CanMount {
			t.Skip("volumes cannot be shown here: " + rt.Info().WhyNoMount)
		}
		t.Cleanup(func() { endAll(t, rt) })
		h := newTestNode(t, rt)
		store := &fullStore{Interface: h.client}
		h.dir = disk
		h.startNode(func(c *node.Config) {
			c.Client = store
			c.ReportAfter(time.Millisecond)
			change(c)
		})
		do(h, store)
	})
}

// endAll ends all containers, without which the host process does not end.
func endAll(t *testing.T, rt runtime.Runtime) {
	ctx := context.Background()
	all, err := rt.List(ctx)
	if err != nil {
		t.Error(err)
	}
	for _, s := range all {
		if err := errors.Join(rt.RemovePod(ctx, s.PodUID, ""), rt.Forget(ctx, s.ID)); err != nil {
			t.Error(err)
		}
	}
}

func seldom(c *node.Config) { c.CheckDiskEvery(time.Hour) }

func TestVolumesOfAnEndedPodAreFreedBeforeItsEndIsStored(t *testing.T) {
	onSmallDisk(t, seldom, func(h *testNode, store *fullStore) {
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
	})
}

func TestVolumesOfADeletedPodAreFreedBeforeItIsGone(t *testing.T) {
	onSmallDisk(t, seldom, func(h *testNode, store *fullStore) {
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
	})
}
