package node_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/images"
	"github.com/stint-dev/stint/test/unprivileged"
)

func mayTake(amount string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Limits = quantities("ephemeral-storage", amount)
	}
}

// withScratch gives the container an emptyDir at /scratch.
func withScratch(limit string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(resource.MustParse(limit))},
		}}}
		p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "scratch", MountPath: "/scratch"}}
	}
}

// checkEvicted waits until the pod was evicted for this reason.
func (h *testNode) checkEvicted(pod *corev1.Pod, message string) *corev1.Pod {
	h.t.Helper()
	got := h.until(pod, "the pod is evicted", inPhase(corev1.PodFailed))
	if got.Status.Reason != "Evicted" || got.Status.Message != message {
		h.t.Errorf("%s: %s %q, want Evicted %q", pod.Name, got.Status.Reason, got.Status.Message, message)
	}
	return got
}

const podExceeds1Mi = "Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. "

func TestPodsThatTakeMoreDiskThanTheyMayAreEvicted(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(func(c *node.Config) { c.MeasureEvery(time.Millisecond) })
	rt.writes("main", 1<<20)
	limited := h.create(build("limited", []string{"wait"}, func(p *corev1.Pod) {
		mayTake("1Mi")(p)
		p.Spec.RestartPolicy = corev1.RestartPolicyAlways
	}))
	unlimited := h.create(build("unlimited", []string{"wait"}, nil))
	h.until(limited, "a pod at its limit runs", inPhase(corev1.PodRunning))
	h.until(unlimited, "a pod without limits runs", inPhase(corev1.PodRunning))

	rt.writes("main", 1<<20+1)
	h.checkEvicted(limited, podExceeds1Mi)
	if grace := rt.stopped(limited.UID); grace > time.Second {
		t.Errorf("its container got %s to end", grace)
	}
	if e := h.untilEvent("Evicted"); e != "Warning Evicted "+podExceeds1Mi {
		t.Errorf("the event is %q", e)
	}
	rt.end(runtime.ID{PodUID: unlimited.UID, Container: "main"}, 0)
	h.until(unlimited, "the pod without limits has stayed", inPhase(corev1.PodSucceeded))
}

func TestPodsThatRequestMoreDiskThanThereIsWait(t *testing.T) {
	h := newTestNode(t, newScripted())
	h.startNode(nil)
	pod := h.create(build("huge", []string{"exit", "0"}, mayTake("1Ei")))
	waits := h.until(pod, "the pod says why it waits", func(p *corev1.Pod) bool {
		return condition(p, corev1.PodScheduled).Reason == corev1.PodReasonUnschedulable
	})
	object, err := h.client.Nodes().Get(t.Context(), "", "here")
	if err != nil {
		t.Fatal(err)
	}
	has, capacity := object.Status.Allocatable.StorageEphemeral(), object.Status.Capacity.StorageEphemeral()
	want := "ephemeral-storage: 1Ei requested, the machine has only " + has.String()
	if got := condition(waits, corev1.PodScheduled).Message; got != want || has.Sign() <= 0 || capacity.Cmp(*has) != 0 {
		t.Errorf("the pod says %q, want %q; the node's capacity is %s", got, want, capacity)
	}
}

// A server may be killed between an eviction and the end of the pod.
func TestAnEvictedPodStaysEvictedOverARestart(t *testing.T) {
	rt := newScripted()
	h := newTestNode(t, rt)
	h.startNode(func(c *node.Config) { c.MeasureEvery(time.Millisecond) })
	rt.writes("main", 2<<20)
	pod := h.create(build("limited", []string{"stubborn"}, mayTake("1Mi")))
	h.untilSeen(h.until(pod, "the pod is being evicted", func(p *corev1.Pod) bool { return p.Status.Reason == "Evicted" }))
	h.stopNode()
	rt.writes("main", 0)
	rt.end(runtime.ID{PodUID: pod.UID, Container: "main"}, 0)
	h.startNode(nil)
	h.checkEvicted(pod, podExceeds1Mi)
}

// A host process of an older version, which cannot measure, survives an upgrade.
func TestWhereNothingMeasuresNothingIsEvicted(t *testing.T) {
	rt := newScripted()
	rt.info.CanMeasure = false
	h := newTestNode(t, rt)
	h.startNode(func(c *node.Config) { c.MeasureEvery(time.Millisecond) })
	rt.writes("main", 2<<20)
	pod := h.create(build("limited", []string{"wait"}, mayTake("1Mi")))
	h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
	object, err := h.client.Nodes().Get(t.Context(), "", "here")
	if err != nil || object.Annotations["stint.dev/limits-not-enforced"] != "cpu,memory,ephemeral-storage" {
		t.Errorf("the node's annotations are %v, %v", object.Annotations, err)
	}
	rt.end(runtime.ID{PodUID: pod.UID, Container: "main"}, 0)
	h.until(pod, "the pod was left alone", inPhase(corev1.PodSucceeded))
}

func TestRealProcessesAreEvicted(t *testing.T) {
	dir := t.TempDir()
	rt := processes(t, dir)
	if !rt.Info().CanMount {
		t.Skip("volumes cannot be shown here: " + rt.Info().WhyNoMount)
	}
	h := newTestNode(t, rt)
	h.startNode(func(c *node.Config) { c.MeasureEvery(time.Millisecond) })
	volume := h.create(build("volume", shell(write+"/scratch/file; sleep 1000"), withScratch("1Mi")))
	log := h.create(build("log", shell(write+"/dev/stdout; sleep 1000"), mayTake("1Mi")))
	elsewhere := h.create(build("elsewhere", shell(write+t.TempDir()+"/file"), mayTake("1Mi")))
	h.checkEvicted(volume, `Usage of EmptyDir volume "scratch" exceeds the limit "1Mi". `)
	h.checkEvicted(log, podExceeds1Mi)
	h.until(elsewhere, "files of the machine do not count", inPhase(corev1.PodSucceeded))
}

// write is a command that writes 2 MiB with a line each KiB.
const write = `dd if=/dev/zero bs=1k count=2048 2>/dev/null | tr '\0' '\n' >`

func TestContainersFromImagesAreEvicted(t *testing.T) {
	dir := t.TempDir()
	t.Cleanup(func() {
		// Only the host process can remove what other users have written.
		await.Until(t, "the host process is gone", func() bool {
			_, err := os.Stat(filepath.Join(dir, "roots"))
			return os.IsNotExist(err)
		})
	})
	rt := processes(t, dir)
	if !rt.Info().CanRunImages {
		t.Skip("images cannot be run here: " + rt.Info().WhyNoImages)
	}
	s := openStore(t, filepath.Join(t.TempDir(), "store"))
	from, err := images.Source(images.Image(t, v1.Config{}, images.Busybox(t)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Add(t.Context(), "docker.io/library/busybox:1", from, nil); err != nil {
		t.Fatal(err)
	}
	h := newTestNode(t, rt)
	h.startNode(func(c *node.Config) { c.Images = s; c.MeasureEvery(time.Millisecond) })
	start := func(name, script string, change func(*corev1.Pod)) *corev1.Pod {
		return h.create(build(name, []string{"sh", "-c", script}, func(p *corev1.Pod) {
			p.Spec.Containers[0].Image = "busybox:1"
			p.Spec.RuntimeClassName = ptr.To(runtime.ClassOCI)
			change(p)
		}))
	}
	below := start("below", "echo x > /file; until test -e /scratch/go; do sleep 0.05; done", func(p *corev1.Pod) {
		withScratch("1Mi")(p)
		mayTake("1Mi")(p)
	})
	wants := map[*corev1.Pod]string{}
	for name, c := range map[string]struct {
		script string
		change func(*corev1.Pod)
		want   string
	}{
		"root":   {write + "/file; sleep 1000", mayTake("1Mi"), podExceeds1Mi},
		"hidden": {"mkdir -p /a/b; " + write + "/a/b/file; chmod 0 /a/b /a; sleep 1000", mayTake("1Mi"), podExceeds1Mi},
		"volume": {write + "/scratch/file; sleep 1000", withScratch("1Mi"), `Usage of EmptyDir volume "scratch" exceeds the limit "1Mi". `},
		"log":    {write + "/dev/stdout; sleep 1000", mayTake("1Mi"), podExceeds1Mi},
		"two": {write + "/file; sleep 1000", func(p *corev1.Pod) {
			mayTake("1Mi")(p)
			p.Spec.Containers = append(p.Spec.Containers, *p.Spec.Containers[0].DeepCopy())
			p.Spec.Containers[1].Name, p.Spec.Containers[1].Command = "more", []string{"sleep", "1000"}
			p.Spec.Containers[1].Resources.Limits = quantities("ephemeral-storage", "100Mi")
		}, `Container main exceeded its local ephemeral storage limit "1Mi". `},
	} {
		wants[start(name, c.script, c.change)] = c.want
	}
	for pod, want := range wants {
		for _, s := range h.checkEvicted(pod, want).Status.ContainerStatuses {
			if s.State.Terminated == nil {
				t.Errorf("%s: container %s is %+v", pod.Name, s.Name, s.State)
			}
		}
	}
	fill(t, filepath.Join(h.dir, "pods", string(below.UID), "volumes/scratch/go"), 0)
	h.until(below, "the pod that took less has stayed", inPhase(corev1.PodSucceeded))
}

func TestEvictedWithoutRoot(t *testing.T) { unprivileged.Run(t, "Real.*Evicted|Images.*Evicted") }

func TestEvictedWithSubordinateIDs(t *testing.T) {
	unprivileged.WithSubordinateIDs(t, "Images.*Evicted")
}
