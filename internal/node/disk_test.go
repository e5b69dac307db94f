package node_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/images"
	"github.com/stint-dev/stint/test/smalldisk"
)

func fill(t *testing.T, path string, mib int) {
	t.Helper()
	if err := os.WriteFile(path, make([]byte, mib<<20), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (h *testNode) untilPressure(want corev1.ConditionStatus) (message string) {
	h.t.Helper()
	var last *corev1.Node
	h.eventually("the node's condition DiskPressure is "+string(want), func() bool {
		var err error
		if last, err = h.client.Nodes().Get(h.t.Context(), "", "here"); err != nil {
			return false
		}
		for _, c := range last.Status.Conditions {
			if c.Type == corev1.NodeDiskPressure && c.Status == want {
				message = c.Message
				return true
			}
		}
		return false
	}, func() any { return last })
	return message
}

func (h *testNode) untilEvent(reason string) string {
	h.t.Helper()
	for {
		if e := h.event(); strings.Contains(e, reason) {
			return e
		}
	}
}

func TestANodeWhoseDiskIsFullTakesNoPods(t *testing.T) {
	smalldisk.Run(t, 64, func(disk string) {
		rt := newScripted()
		h := newTestNode(t, rt)
		h.startNode(func(c *node.Config) { c.Dir = disk; c.CheckDiskEvery(time.Millisecond) })
		h.untilPressure(corev1.ConditionFalse)
		runs := h.create(build("runs", []string{"wait"}, nil))
		h.until(runs, "the pod runs", inPhase(corev1.PodRunning))

		file := filepath.Join(disk, "file")
		fill(t, file, 60)
		h.untilEvent("NodeHasDiskPressure")
		message := h.untilPressure(corev1.ConditionTrue)
		if want := "less than 6 MiB are free on the file system of " + disk; !strings.HasPrefix(message, want) {
			t.Errorf("the condition says %q, want %q", message, want)
		}
		kept := h.create(build("kept", []string{"exit", "0"}, nil))
		h.until(kept, "the pod says why it waits", func(p *corev1.Pod) bool {
			c := condition(p, corev1.PodScheduled)
			return c.Reason == corev1.PodReasonUnschedulable && c.Message ==
				"the node has the taint node.kubernetes.io/disk-pressure:NoSchedule, which the pod does not tolerate: "+message
		})
		tolerant := h.create(build("tolerant", []string{"exit", "0"}, tolerates(corev1.TaintNodeDiskPressure, nil)))
		h.until(tolerant, "the pod that tolerates it runs", inPhase(corev1.PodSucceeded))

		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		h.until(kept, "the pod runs once there is room", inPhase(corev1.PodSucceeded))
		h.untilPressure(corev1.ConditionFalse)
		rt.end(runtime.ID{PodUID: runs.UID, Container: "main"}, 0)
		h.until(runs, "the pod that ran has stayed", inPhase(corev1.PodSucceeded))
	})
}

func TestANodeThatStartsOnAFullDiskReportsPressure(t *testing.T) {
	smalldisk.Run(t, 64, func(disk string) {
		fill(t, filepath.Join(disk, "file"), 60)
		h := newTestNode(t, newScripted())
		h.startNode(func(c *node.Config) { c.Dir = disk })
		h.untilEvent("NodeHasDiskPressure")
		h.untilPressure(corev1.ConditionTrue)
	})
}

func TestAStartThatAFullDiskPreventsIsTriedAgain(t *testing.T) {
	smalldisk.Run(t, 64, func(disk string) {
		rt := newScripted()
		h := newTestNode(t, rt)
		h.startNode(func(c *node.Config) { c.Dir = disk; c.CheckDiskEvery(time.Hour) })
		h.untilPressure(corev1.ConditionFalse)
		file := filepath.Join(disk, "file")
		fill(t, file, 60)
		// The text is all that comes from another process.
		rt.failStarts(errors.New("write to the journal: no space left on device"))
		pod := h.create(build("waits", []string{"exit", "0"}, nil))
		waits := h.until(pod, "the container says why it waits", func(p *corev1.Pod) bool {
			return len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].State.Waiting.Reason == "CreateContainerError"
		})
		want := "there is no space on a disk (4 MiB are free on the file system of " + disk + "): write to the journal: no space left on device"
		if got := waits.Status.ContainerStatuses[0].State.Waiting.Message; got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
		h.untilPressure(corev1.ConditionTrue) // The disk is checked at once.
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		rt.failStarts(nil)
		h.until(pod, "the pod runs once there is room", inPhase(corev1.PodSucceeded))
	})
}

func TestPressureEndsAsSoonAsAPodHasLeftRoom(t *testing.T) {
	smalldisk.Run(t, 64, func(disk string) {
		rt := newScripted()
		h := newTestNode(t, rt)
		h.dir = disk
		file := filepath.Join(h.dir, "file")
		fill(t, file, 60)
		h.startNode(seldom)
		h.untilPressure(corev1.ConditionTrue)
		pod := h.create(build("tolerant", []string{"wait"}, tolerates(corev1.TaintNodeDiskPressure, nil)))
		waits := h.create(build("waits", []string{"exit", "0"}, nil))
		h.until(pod, "the pod that tolerates it runs", inPhase(corev1.PodRunning))
		h.untilWaiting(waits, "less than 6 MiB are free")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		rt.end(runtime.ID{PodUID: pod.UID, Container: "main"}, 0)
		h.until(waits, "the pod runs", inPhase(corev1.PodSucceeded))
	})
}

// add adds an image with a layer of this many MiB to the store.
func add(t *testing.T, s *store.Store, name string, mib int) {
	t.Helper()
	layer := images.Layer(t, map[string]images.File{name: {Content: strings.Repeat(name[:1], mib<<20), Mode: 0o644}})
	from, err := images.Source(images.Image(t, v1.Config{}, layer))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Add(t.Context(), name, from, nil); err != nil {
		t.Fatal(err)
	}
}

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Images of pods that have not terminated stay, even if no container runs from them now.
func TestANodeRemovesImagesThatNoPodUses(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "store"))
	add(t, s, "docker.io/library/used:1", 2)
	add(t, s, "docker.io/library/idle:1", 2)
	rt := newScripted()
	rt.info.CanRunImages = true
	h := newTestNode(t, rt)
	h.create(build("waits", []string{"wait"}, func(p *corev1.Pod) {
		p.Spec.Containers[0].Image = "used:1"
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/later"}}
		p.Spec.RuntimeClassName = new(string)
		*p.Spec.RuntimeClassName = runtime.ClassOCI
	}))
	h.startNode(func(c *node.Config) {
		c.Images, c.ImageGC = s, store.GCPolicy{HighThreshold: 100, LowThreshold: 99, Limit: 1 << 20}
	})
	if e := h.untilEvent("ImagesRemoved"); !strings.Contains(e, "docker.io/library/idle:1") {
		t.Errorf("the event is %q", e)
	}
	if e := h.untilEvent("FreeDiskSpaceFailed"); !strings.Contains(e, "Warning") || !strings.Contains(e, "--image-store-limit") {
		t.Errorf("the event is %q", e)
	}
	list, err := s.List()
	if err != nil || len(list) != 1 || list[0].Name != "docker.io/library/used:1" {
		t.Errorf("the store has %+v, %v", list, err)
	}
}

func TestImagesAreRemovedBeforeADiskCountsAsFull(t *testing.T) {
	smalldisk.Run(t, 64, func(disk string) {
		s := openStore(t, filepath.Join(disk, "store"))
		add(t, s, "docker.io/library/idle:1", 20)
		h := newTestNode(t, newScripted())
		h.startNode(func(c *node.Config) {
			c.Dir, c.Images = disk, s
			c.ImageGC = store.GCPolicy{HighThreshold: 90, LowThreshold: 80}
			c.CheckDiskEvery(time.Millisecond)
		})
		h.untilPressure(corev1.ConditionFalse)
		fill(t, filepath.Join(disk, "file"), 40)
		h.eventually("the image is removed", func() bool {
			list, err := s.List()
			return err == nil && len(list) == 0
		}, func() any { return nil })
		pod := h.create(build("runs", []string{"exit", "0"}, nil))
		h.until(pod, "the node takes pods", inPhase(corev1.PodSucceeded))
	})
}
