package node_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/node/logs"
	"github.com/stint-dev/stint/test/wrappers"
)

func (h *testNode) job(name string, mode batchv1.CompletionMode) *batchv1.Job {
	h.t.Helper()
	job, err := h.client.Jobs().Create(h.t.Context(), wrappers.MakeJob(name).Namespace("default").CompletionMode(mode).
		Completions(1000).Containers("main").Image("none").Command("none").Obj())
	if err != nil {
		h.t.Fatal(err)
	}
	h.untilJobCached(job, true)
	return job
}

func (h *testNode) untilJobCached(job *batchv1.Job, there bool) {
	h.t.Helper()
	h.eventually("the informer shows the Job", func() bool {
		_, known, err := h.client.Jobs().Informer().GetStore().Get(job)
		return err == nil && known == there
	}, func() any { return job.Name })
}

func ownedBy(job *batchv1.Job) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	}
}

func (h *testNode) deletePod(pod *corev1.Pod, grace int64) {
	h.t.Helper()
	if err := h.client.Pods().Delete(h.t.Context(), pod, client.DeleteOptions{GracePeriodSeconds: &grace}); err != nil {
		h.t.Fatal(err)
	}
}

func (h *testNode) deleteJob(job *batchv1.Job) {
	h.t.Helper()
	if err := h.client.Jobs().Delete(h.t.Context(), job, client.DeleteOptions{Propagation: metav1.DeletePropagationBackground}); err != nil {
		h.t.Fatal(err)
	}
	h.untilJobCached(job, false)
}

// createEndedPod creates a pod of the Job that terminated on another machine, at this second, and whose log is here.
func (h *testNode) createEndedPod(job *batchv1.Job, name string, second int) *corev1.Pod {
	h.t.Helper()
	ended := metav1.Unix(1_700_000_000+int64(second), 0)
	pod := h.create(build(name, []string{"none"}, func(p *corev1.Pod) {
		ownedBy(job)(p)
		p.Spec.NodeName = "elsewhere"
	}))
	pod, err := h.client.Pods().ModifyStatus(h.t.Context(), pod, func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodSucceeded
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main",
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: ended}}}}
	})
	if err != nil {
		h.t.Fatal(err)
	}
	path := filepath.Join(h.folder(pod), "main", "0.log")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	line := ended.UTC().Format(time.RFC3339Nano) + " stdout F I am " + name + "\n"
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		h.t.Fatal(err)
	}
	h.untilSeen(pod)
	return pod
}

// footprint is the size of the log folder of such a pod: the folder itself, the container's, the log and the file of
// the owner.
const footprint = 4 * 4 << 10

func (h *testNode) folder(pod *corev1.Pod) string {
	return filepath.Join(h.dir, "logs", fmt.Sprintf("%s_%s_%s", pod.Namespace, pod.Name, pod.UID))
}

// checkFolders waits until exactly these pods have log folders.
func (h *testNode) checkFolders(why string, pods ...*corev1.Pod) {
	h.t.Helper()
	var want []string
	for _, p := range pods {
		want = append(want, filepath.Base(h.folder(p)))
	}
	slices.Sort(want)
	var got []string
	h.eventually(why, func() bool {
		got = nil
		entries, err := os.ReadDir(filepath.Join(h.dir, "logs"))
		if err != nil {
			h.t.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() {
				got = append(got, e.Name())
			}
		}
		return slices.Equal(got, want)
	}, func() any { return fmt.Sprintf("%v, want %v", got, want) })
}

func (h *testNode) untilOwnerRecorded(pod *corev1.Pod) {
	h.t.Helper()
	h.eventually("the owner of the log is written", func() bool {
		_, err := os.Stat(filepath.Join(h.folder(pod), "kept.json"))
		return err == nil
	}, func() any { return pod.Name })
}

func (h *testNode) attempt(pod *corev1.Pod, attempt int32, opts corev1.PodLogOptions) (string, error) {
	h.t.Helper()
	opts.Container = "main"
	of := &stintv1.PodResult{Pod: pod.Name, UID: pod.UID}
	for _, s := range pod.Status.ContainerStatuses {
		if s.State.Terminated != nil {
			of.FinishedAt = &s.State.Terminated.FinishedAt
		}
	}
	body, err := h.node.Logs.AttemptLogs(h.t.Context(), pod.Namespace, of, attempt, &opts)
	if err != nil {
		return "", err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	return string(text), err
}

// untilHello waits until the pod has printed hello. It runs before that, but its shell may not have set the trap yet.
func (h *testNode) untilHello(pod *corev1.Pod) {
	h.t.Helper()
	h.eventually("it has printed hello", func() bool {
		text, err := h.attempt(pod, 0, corev1.PodLogOptions{})
		return err == nil && text == "hello\n"
	}, func() any { return pod.Name })
}

// A pod that is deleted while it runs prints more until it exits. All of it is kept until its Job is deleted.
func TestLogsOutliveThePodsOfAJob(t *testing.T) {
	dir := t.TempDir()
	h := newTestNode(t, processes(t, dir))
	h.startNode(nil)
	job := h.job("talks", batchv1.NonIndexedCompletion)
	script := shell("trap 'echo bye; exit 1' TERM; echo hello; while :; do sleep 0.02; done")
	pod := h.create(build("talks-x7k2p", script, ownedBy(job)))
	h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
	alone := h.create(build("alone", script, nil))
	h.until(alone, "the pod runs", inPhase(corev1.PodRunning))
	h.untilHello(pod)
	for _, p := range []*corev1.Pod{alone, pod} {
		h.deletePod(p, 30)
		h.until(p, "it is gone", gone)
	}
	h.untilOwnerRecorded(pod) // So the node has observed both deletions.
	text, err := h.attempt(pod, 0, corev1.PodLogOptions{Follow: true})
	if err != nil || text != "hello\nbye\n" {
		t.Errorf("the kept log is %q, %v", text, err)
	}
	h.stopNode() // Removals are no longer delayed then.
	h.checkFolders("what belongs to no Job goes", pod)
	h.startNode(nil)
	h.deleteJob(job)
	h.checkFolders("the log goes with its Job")
}

func TestPodThatVanishedWhileNoNodeRanLeavesItsLog(t *testing.T) {
	h := newTestNode(t, processes(t, t.TempDir()))
	h.startNode(nil)
	job := h.job("talks", batchv1.NonIndexedCompletion)
	pod := h.create(build("talks-x7k2p", shell("trap 'echo bye; exit 1' TERM; echo hello; while :; do sleep 0.02; done"), ownedBy(job)))
	h.untilSeen(h.until(pod, "the pod runs", inPhase(corev1.PodRunning)))
	h.untilHello(pod)
	h.stopNode()
	h.deletePod(pod, 0)
	h.until(pod, "it is gone", gone)
	h.startNode(nil)
	h.eventually("its end is in the log", func() bool {
		text, err := h.attempt(pod, 0, corev1.PodLogOptions{})
		return err == nil && strings.HasSuffix(text, "bye\n")
	}, func() any { return pod.Name })
	h.untilOwnerRecorded(pod)
}

func TestOldestLogsGoFirst(t *testing.T) {
	h := newTestNode(t, newScripted())
	three := func(c *node.Config) { c.KeepLogs = ptr.To[int64](3 * footprint) }
	h.startNode(three)
	job := h.job("many", batchv1.NonIndexedCompletion)
	// In the order of their deletion, which is not the order in which they terminated.
	var pods []*corev1.Pod
	for _, second := range []int{3, 1, 5, 2, 4} {
		pods = append(pods, h.createEndedPod(job, fmt.Sprintf("many-%d", second), second))
	}
	silent := h.createEndedPod(job, "silent", 6)
	if err := os.RemoveAll(h.folder(silent)); err != nil {
		t.Fatal(err)
	}
	for _, p := range append(pods, silent) {
		h.deletePod(p, 0)
	}
	for _, p := range []*corev1.Pod{pods[0], pods[2], pods[4]} {
		h.untilOwnerRecorded(p)
	}
	h.stopNode()
	h.checkFolders("those that ended last stay", pods[0], pods[2], pods[4])

	h.startNode(three)
	var goneError logs.GoneError
	if _, err := h.attempt(pods[3], 0, corev1.PodLogOptions{}); !errors.As(err, &goneError) || !strings.Contains(err.Error(), "exceeded") {
		t.Errorf("asked for one that is gone: %v", err)
	}
	if text, err := h.attempt(silent, 0, corev1.PodLogOptions{}); err != nil || text != "" {
		t.Errorf("asked for one that said nothing: %q, %v", text, err)
	}
	if text, err := h.attempt(pods[0], 0, corev1.PodLogOptions{}); err != nil || text != "I am many-3\n" {
		t.Errorf("asked for one that is kept: %q, %v", text, err)
	}
	// One more after a restart: logs that were retained before it count.
	sixth := h.createEndedPod(job, "many-6", 6)
	h.deletePod(sixth, 0)
	h.untilOwnerRecorded(sixth)
	h.stopNode()
	h.checkFolders("the oldest of before goes", pods[2], pods[4], sixth)

	h.startNode(func(c *node.Config) { c.KeepLogs = ptr.To[int64](footprint) })
	h.checkFolders("a smaller bound holds at once", sixth)
	h.stopNode()
	h.startNode(func(c *node.Config) { c.KeepLogs, c.Cordoned = ptr.To[int64](0), true })
	h.stopNode()
	h.checkFolders("a node that only ends pods drops nothing", sixth)
	h.startNode(func(c *node.Config) { c.KeepLogs = ptr.To[int64](0) })
	h.checkFolders("no bytes, no logs")
	if _, err := h.attempt(silent, 0, corev1.PodLogOptions{}); !errors.As(err, &goneError) || !strings.Contains(err.Error(), "--keep-logs is 0") {
		t.Errorf("asked where none are kept: %v", err)
	}
}

func TestWhatTheNodeFindsAtItsStart(t *testing.T) {
	h := newTestNode(t, newScripted())
	h.startNode(nil)
	stays, goes := h.job("stays", batchv1.NonIndexedCompletion), h.job("goes", batchv1.NonIndexedCompletion)
	indexed := h.job("array-1", batchv1.IndexedCompletion)
	kept := h.createEndedPod(stays, "stays-aaaaa", 1)
	left := h.createEndedPod(goes, "goes-aaaaa", 1)
	for _, p := range []*corev1.Pod{kept, left} {
		h.deletePod(p, 0)
		h.untilOwnerRecorded(p)
	}
	h.stopNode()
	// Deleted while no node ran, or while one was killed before it could write the owner.
	unmarked := h.createEndedPod(stays, "stays-bbbbb", 2)
	ofIndex := h.createEndedPod(indexed, "array-1-7-ccccc", 2)
	strange := h.createEndedPod(stays, "another-name", 2)
	torn := h.createEndedPod(stays, "stays-ddddd", 2)
	if err := os.WriteFile(filepath.Join(h.folder(torn), "kept.json"), []byte(`{"job":"st`), 0o600); err != nil {
		t.Fatal(err)
	}
	outdated := h.createEndedPod(stays, "stays-eeeee", 2)
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(h.folder(outdated), long, long); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*corev1.Pod{unmarked, ofIndex, strange, torn, outdated} {
		h.deletePod(p, 0)
		h.until(p, "it is gone", gone)
		h.eventually("the informer shows the deletion", func() bool {
			_, known, _ := h.client.Pods().Informer().GetStore().Get(p)
			return !known
		}, func() any { return p.Name })
	}
	h.deleteJob(goes)
	h.startNode(nil)
	h.checkFolders("what a Job that is there may want stays", kept, unmarked, ofIndex, torn)
	h.untilOwnerRecorded(ofIndex)
	text, err := os.ReadFile(filepath.Join(h.folder(ofIndex), "kept.json"))
	if err != nil || !strings.Contains(string(text), `"index":"7"`) || !strings.Contains(string(text), string(indexed.UID)) {
		t.Errorf("guessed %s, %v", text, err)
	}
	h.stopNode()
	h.checkFolders("and is found again", kept, unmarked, ofIndex, torn)
}

func TestLogsOfManyPods(t *testing.T) {
	const many = 300
	h := newTestNode(t, newScripted())
	keep := func(c *node.Config) { c.KeepLogs = ptr.To[int64](many / 2 * footprint) }
	h.startNode(keep)
	job := h.job("many", batchv1.NonIndexedCompletion)
	var pods []*corev1.Pod
	for i := range many {
		pods = append(pods, h.createEndedPod(job, fmt.Sprintf("many-%d", i), i))
	}
	for _, p := range pods {
		h.deletePod(p, 0)
	}
	h.untilOwnerRecorded(pods[many-1])
	h.stopNode()
	h.checkFolders("half of them fit", pods[many/2:]...)
	h.deleteJob(job)
	h.startNode(keep)
	h.checkFolders("all go with their Job")
	if diff := cmp.Diff([]string{"dropped"}, names(t, filepath.Join(h.dir, "logs"))); diff != "" {
		t.Error(diff)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
