package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/podstatus"
	"github.com/stint-dev/stint/test/smalldisk"
)

// fillUp writes a file until nothing is free.
func fillUp(t testing.TB, path string) {
	t.Helper()
	var s unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &s); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, make([]byte, int(s.Bavail)*int(s.Bsize)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func lossOf(p *corev1.Pod) string { return condition(p, podstatus.LogsIncomplete).Message }

func (h *testNode) lossEvents() (events []string) {
	for len(h.events.Events) > 0 {
		if e := <-h.events.Events; strings.Contains(e, "LogWriteFailed") {
			events = append(events, e)
		}
	}
	return events
}

// The output goes on to be lost while the next node runs, which learns of it from the host process.
func TestAPodSaysThatItsLogIsIncomplete(t *testing.T) {
	smalldisk.Run(t, 16, func(disk string) {
		first := processes(t, disk)
		h := newTestNode(t, first)
		onDisk := func(c *node.Config) { c.Dir = disk }
		h.startNode(onDisk)
		gates, other := t.TempDir(), filepath.Join(disk, "other")
		open := func(gate string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(gates, gate), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		pod := h.create(build("loud", shell(`
			await() { until test -e $1; do sleep 0.01; done; }
			cd `+gates+`; echo before
			await full; seq 20000
			await room; echo after
			exit 3`), func(p *corev1.Pod) {
			p.Spec.Containers[0].TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
		}))
		running := h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
		log := h.node.Logs.Path(pod, "main", 0)
		h.eventually("it prints", func() bool { info, err := os.Stat(log); return err == nil && info.Size() > 0 }, func() any { return log })
		if len(running.Status.Conditions) != 5 {
			t.Errorf("the conditions of a pod that loses nothing: %+v", running.Status.Conditions)
		}
		fillUp(t, other)
		open("full")
		running = h.until(pod, "it says that output is lost", func(p *corev1.Pod) bool { return lossOf(p) != "" })
		if got := lossOf(running); !strings.HasPrefix(got, "container main: some of its output is lost from 20") || !strings.HasSuffix(got, "Z on: no space left on device") {
			t.Errorf("while it runs: %q", got)
		}
		if events := h.lossEvents(); len(events) != 1 || events[0] != "Warning LogWriteFailed "+lossOf(running) {
			t.Errorf("events: %q", events)
		}
		h.untilSeen(running)
		h.stopNode()
		first.(*leaving).leave()
		h.rt = processes(t, disk)
		h.startNode(onDisk)
		if err := os.Remove(other); err != nil {
			t.Fatal(err)
		}
		open("room")
		failed := h.until(pod, "it ends", inPhase(corev1.PodFailed))
		if got := lossOf(failed); !strings.Contains(got, " bytes of its output are lost from 20") || strings.SplitN(got, "from", 2)[1] != strings.SplitN(lossOf(running), "from", 2)[1] {
			t.Errorf("at its end: %q", got)
		}
		if log := h.logOf(failed); !strings.HasPrefix(log, "before\n1\n") || !strings.HasSuffix(log, "\nafter\n") {
			t.Errorf("the log begins with %.20q, and has %d bytes", log, len(log))
		}
		if events := h.lossEvents(); len(events) > 0 {
			t.Errorf("the next node repeats the events: %q", events)
		}
		end := failed.Status.ContainerStatuses[0].State.Terminated
		if end.ExitCode != 3 || !strings.HasPrefix(end.Message, "[the log is incomplete: ") || !strings.HasSuffix(end.Message, "after\n") {
			t.Errorf("terminated with %d, %q", end.ExitCode, end.Message)
		}
	})
}
