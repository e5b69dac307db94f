package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/unprivileged"
)

const allCapabilities = 1<<41 - 1

// sharing returns a container that shares its process ids with the others of its pod.
func (m *machine) sharing(tree, name, script string) runtime.Container {
	c := m.imageContainer(tree, "sh", "-c", script)
	c.PodUID, c.Container, c.Root.SharePIDs = "sharing-pod", name, true
	c.LogPath += "." + name
	return c
}

func onEveryLevelWithImages(t *testing.T, test func(t *testing.T, m *machine)) {
	onEveryLevel(t, func(t *testing.T, m *machine) {
		if !m.Info().CanRunImages {
			t.Skip("images cannot be run here: " + m.Info().WhyNoImages)
		}
		test(t, m)
	})
}

func TestProcess1OfASharedPodHasNothing(t *testing.T) {
	onEveryLevelWithImages(t, func(t *testing.T, m *machine) {
		secret := filepath.Join(t.TempDir(), "secret")
		write(t, secret, "word\n")
		c := m.sharing(imageTree(t), "tracer", `ls -A /proc/1/root/ /proc/1/cwd/ /proc/1/fd/; cat /proc/1/root`+secret+` 2>/dev/null
			grep -E '^(Uid|Cap...|NoNewPrivs|Seccomp):' /proc/1/status; grep cpu /proc/1/limits`)
		c.Root.Capabilities = allCapabilities
		got := strings.Join(strings.Fields(m.printed(c)), " ")
		none := strings.Repeat("0", 16)
		want := "/proc/1/cwd/: /proc/1/fd/: /proc/1/root/: Uid:" + strings.Repeat(fmt.Sprint(" ", m.lastID()), 4) + " CapInh: " + none + " CapPrm: " + none +
			" CapEff: " + none + " CapBnd: " + none + " CapAmb: " + none + " NoNewPrivs: 1 Seccomp: 2 Max cpu time 1 1 seconds"
		if got != want {
			t.Errorf("it is\n%s\nwant\n%s", got, want)
		}
	})
}

// lastID is a user that no program has.
func (m *machine) lastID() uint32 {
	if ids := m.Info().ImageIDs; ids > 0 {
		return ids - 1
	}
	return 4294967293
}

// leaving is a script that leaves a process with neither its session nor its environment.
func leaving(word string) string {
	return "setsid env -i sleep " + word + " & until grep -q ^sleep /proc/$!/cmdline; do :; done"
}

func TestNoProcessOfASharedPodOutlivesItsContainer(t *testing.T) {
	onEveryLevelWithImages(t, func(t *testing.T, m *machine) {
		const word = "98763412"
		tree := imageTree(t)
		m.printed(m.sharing(tree, "alone", leaving(word)))
		if n := alive(t, word); n != 0 {
			t.Errorf("%d processes are left", n)
		}
		proxy := m.sharing(tree, "proxy", "echo ready; while :; do sleep 0.05; done")
		m.start(proxy)
		await.Until(t, "the proxy runs", func() bool { return m.outputIfAny(proxy) == "ready\n" })
		m.printed(m.sharing(tree, "beside", leaving(word)))
		if n := alive(t, word); n != 0 {
			t.Errorf("%d processes are left beside another container", n)
		}
		m.end(proxy.ID)
	})
}

// A process that is traced stays a zombie until its tracer asks for it, and process 1 waits for it.
func TestASharedPodThatCannotEndHoldsUpNoOther(t *testing.T) {
	m := imager(t)
	if m.Info().ImageIDs > 0 {
		t.Skip("takes root of the machine to trace a container")
	}
	const word = "98764132"
	tree := imageTree(t)
	stuck := m.sharing(tree, "stuck", "sleep "+word+" & echo ready; wait")
	m.start(stuck)
	var sleep int
	await.Until(t, "the process runs", func() bool { sleep = sleeper(t, word); return sleep != 0 })
	release := trace(t, sleep)
	t.Cleanup(release)
	if err := m.Stop(await.Context(t), stuck.ID, 0); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the process is dead", func() bool { return sleeper(t, word) == 0 })
	other := m.sharing(tree, "other", "echo ended")
	other.PodUID = "other-pod"
	if got := m.printed(other); got != "ended\n" {
		t.Errorf("another pod prints %q", got)
	}
	release()
	m.wait(stuck.ID)
}

// sleeper returns the process id of a sleep with that argument; 0 if there is none.
func sleeper(t *testing.T, word string) int {
	t.Helper()
	for _, dir := range processesWith(t, word) {
		if name, _ := os.ReadFile(filepath.Join(dir, "comm")); string(name) == "sleep\n" {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			return pid
		}
	}
	return 0
}

// trace traces a process, and does not ask how it ends until it is released.
func trace(t *testing.T, pid int) (release func()) {
	t.Helper()
	traced, end := make(chan error), make(chan struct{})
	go func() {
		goruntime.LockOSThread() // The trace ends with the thread.
		traced <- unix.PtraceSeize(pid)
		<-end
		// Without this it stays a zombie if this is the first thread of the process, which does not end.
		_, _ = unix.Wait4(pid, nil, unix.WALL|unix.WNOHANG, nil)
	}()
	if err := <-traced; err != nil {
		t.Fatal(err)
	}
	return sync.OnceFunc(func() { close(end) })
}

func TestSharedPodsWithSubordinateIDs(t *testing.T) {
	unprivileged.WithSubordinateIDs(t, "SharedPod|ShareProcess")
}
