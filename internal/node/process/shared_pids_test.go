package process_test

import (
	"path/filepath"
	"strings"
	"testing"

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
			grep -E '^(Uid|Cap...|NoNewPrivs|Seccomp):' /proc/1/status; cat /proc/1/task/1/children`)
		c.Root.Capabilities = allCapabilities
		got := strings.Join(strings.Fields(m.printed(c)), " ")
		none := strings.Repeat("0", 16)
		want := "/proc/1/cwd/: /proc/1/fd/: /proc/1/root/: Uid: 65534 65534 65534 65534 CapInh: " + none + " CapPrm: " + none +
			" CapEff: " + none + " CapBnd: " + none + " CapAmb: " + none + " NoNewPrivs: 1 Seccomp: 2"
		if m.Info().ImageIDs == 1 {
			want = strings.ReplaceAll(want, "65534", "0")
		}
		if got != want {
			t.Errorf("it is\n%s\nwant\n%s", got, want)
		}
	})
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

func TestSharedPodsWithSubordinateIDs(t *testing.T) {
	unprivileged.WithSubordinateIDs(t, "SharedPod|ShareProcess")
}
