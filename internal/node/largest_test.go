package node_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/localvolume"
	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/smalldisk"
)

func often(c *node.Config) {
	c.CheckDiskEvery(time.Millisecond)
	c.MeasureEvery(time.Millisecond)
}

// untilPressureNames waits until the node's condition names this.
func (h *testNode) untilPressureNames(want string) (message string) {
	h.t.Helper()
	h.eventually("the node's condition names "+want, func() bool {
		message = h.untilPressure(corev1.ConditionTrue)
		return strings.HasSuffix(message, want)
	}, func() any { return message })
	return message
}

func TestANodeWhoseDiskIsFullNamesTheLargestPodsAndClaims(t *testing.T) {
	onSmallDisk(t, often, func(h *testNode, _ *fullStore) {
		h.claimOf(t, "data", 12)
		filler := h.create(build("filler", shell("dd if=/dev/zero of=/scratch/file bs=1M count=34 2>/dev/null; echo done; sleep 1000"), withScratch("40Mi")))
		logger := h.create(build("logger", shell(`head -c 6M /dev/zero | tr '\0' x | fold -w 1000; echo done; sleep 1000`), nil))
		h.create(build("small", shell("echo x > /scratch/file; sleep 1000"), withScratch("40Mi")))
		h.logged(filler, "main", "done\n")
		h.logged(logger, "main", "done\n")
		h.until(logger, "the pod runs", inPhase(corev1.PodRunning))
		fill(t, filepath.Join(h.dir, "other"), 7)

		message := h.untilPressureNames("; the largest there: pod default/filler (emptyDir scratch 34 MiB), claim default/data (12 MiB), " +
			"pod default/logger (logs of container main 6 MiB)")
		h.untilEvent("NodeHasDiskPressure: " + message)
		about := "Warning DiskPressure the disk of the node is full, and this pod is one of the largest there: "
		for _, want := range []string{"emptyDir scratch 34 MiB", "logs of container main 6 MiB"} {
			if e := h.untilEvent("Warning DiskPressure"); e != about+want {
				t.Errorf("the event is %q, want %q", e, about+want)
			}
		}
		h.untilWaiting(h.create(build("waits", shell("true"), nil)), message)
	})
}

// claimOf makes a claim whose provisioned volume has a file of so many MiB.
func (h *testNode) claimOf(t *testing.T, name string, mib int) {
	t.Helper()
	claim := h.claim(name, corev1.ReadWriteOnce)
	volumes, volume := localvolume.Of(h.dir, nil), "pvc-"+string(claim.UID)
	if err := volumes.Make(t.Context(), volume); err != nil {
		t.Fatal(err)
	}
	fill(t, filepath.Join(volumes.Path(volume), "file"), mib)
	h.bind(claim, "", nil)
}

func TestPressureIsReportedBeforeALongMeasurementEnds(t *testing.T) {
	smalldisk.Run(t, 64, func(disk string) {
		rt := newScripted()
		h := newTestNode(t, rt)
		h.dir = disk
		h.startNode(often)
		rt.writes("main", 50<<20)
		pod := h.create(build("large", []string{"wait"}, nil))
		h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
		began, goOn := make(chan bool, 100), make(chan bool)
		rt.holdMeasurements(func() { began <- true; <-goOn })
		fill(t, filepath.Join(h.dir, "file"), 60)
		await.Value(t, "the measurement begins", began)
		if message := h.untilPressure(corev1.ConditionTrue); strings.Contains(message, "largest") {
			t.Errorf("before the measurement has ended, the condition says %q", message)
		}
		waits := h.create(build("waits", []string{"exit", "0"}, nil))
		h.untilWaiting(waits, "less than 6 MiB are free")
		if len(began) > 0 {
			t.Error("a second measurement has begun beside the first one")
		}
		rt.holdMeasurements(nil)
		close(goOn)
		message := h.untilPressureNames("; the largest there: pod default/large (files of container main outside volumes 50 MiB)")
		h.untilWaiting(waits, message)
		rt.end(runtime.ID{PodUID: pod.UID, Container: "main"}, 0)
	})
}
