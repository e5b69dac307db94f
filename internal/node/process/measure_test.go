package process_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

const mib = 1 << 20

func (m *machine) measure(ids []runtime.ID, dirs ...string) runtime.Usage {
	m.t.Helper()
	if !m.Info().CanMeasure {
		m.t.Fatal("the host does not measure")
	}
	usage, err := m.Measure(await.Context(m.t), ids, dirs)
	if err != nil {
		m.t.Fatal(err)
	}
	if len(usage.Roots) != len(ids) || len(usage.Dirs) != len(dirs) {
		m.t.Fatalf("measured %+v of %v and %v", usage, ids, dirs)
	}
	return usage
}

// untilPrinted waits for the first output of a container.
func (m *machine) untilPrinted(c runtime.Container) {
	m.t.Helper()
	await.Until(m.t, "the container has printed", func() bool { return m.outputIfAny(c) != "" })
}

// about allows for the space of directories.
func about(got, want int64) bool { return got >= want && got < want+mib/2 }

func TestWhatAnImageContainerWritesIsMeasured(t *testing.T) {
	m := imager(t)
	tree := imageTree(t)
	for name, c := range map[string]struct {
		script string
		want   int64
	}{
		"nothing":                 {"", 0},
		"what it has written":     {"dd if=/dev/zero of=/file bs=1M count=2 2>/dev/null; ", 2 * mib},
		"what it has changed":     {"cat /bin/busybox /bin/busybox > /tmp/a; rm /tmp/a; echo >> /etc/passwd; ", 0},
		"not what is in memory":   {"dd if=/dev/zero of=/dev/shm/file bs=1M count=2 2>/dev/null; ", 0},
		"what nothing may read":   {"mkdir -p /a/b && dd if=/dev/zero of=/a/b/file bs=1M count=2 2>/dev/null && chmod 0 /a/b /a; ", 2 * mib},
		"not what it has removed": {"dd if=/dev/zero of=/file bs=1M count=2 2>/dev/null; rm /file; ", 0},
	} {
		t.Run(name, func(t *testing.T) {
			m.t = t
			running := m.imageContainer(tree, "sh", "-c", c.script+"echo done; sleep 1000")
			m.start(running)
			m.untilPrinted(running)
			if got := m.measure([]runtime.ID{running.ID}).Roots[0]; !about(got, c.want) {
				t.Errorf("%d bytes, want %d", got, c.want)
			}
			if err := m.Stop(await.Context(t), running.ID, 0); err != nil {
				t.Fatal(err)
			}
			m.wait(running.ID)
			if got := m.measure([]runtime.ID{running.ID}).Roots[0]; got != 0 {
				t.Errorf("%d bytes after its end", got)
			}
		})
	}
}

// Without root the control plane may not read the files of these users.
func TestImageFilesOfOtherUsersAreMeasured(t *testing.T) {
	m := imager(t)
	if m.Info().ImageIDs == 1 {
		t.Skip("containers have one user here")
	}
	volume := filepath.Join(t.TempDir(), "volume")
	if err := os.Mkdir(volume, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(volume, 0o777); err != nil {
		t.Fatal(err)
	}
	c := m.imageContainer(imageTree(t), "sh", "-c", `
		for d in /tmp /volume; do mkdir $d/a; dd if=/dev/zero of=$d/a/file bs=1M count=2 2>/dev/null; chmod 700 $d/a; done
		echo done; sleep 1000`)
	c.User = &runtime.User{UID: 1000, GID: 1000}
	c.Mounts = []runtime.Mount{{HostPath: volume, ContainerPath: "/volume"}}
	m.start(c)
	m.untilPrinted(c)
	got := m.measure([]runtime.ID{c.ID}, volume, filepath.Join(volume, "nothing"))
	if !about(got.Roots[0], 2*mib) || !about(got.Dirs[0], 2*mib) || got.Dirs[1] != 0 {
		t.Errorf("measured %+v", got)
	}
	if err := m.RemovePod(await.Context(t), c.PodUID, volume); err != nil {
		t.Fatal(err)
	}
}

func TestOfAProcessOnlyDirectoriesAreMeasured(t *testing.T) {
	m := start(t)
	volume := t.TempDir()
	c := m.container("sh", "-c", "dd if=/dev/zero of="+volume+"/file bs=1M count=2 2>/dev/null; echo done; sleep 1000")
	m.start(c)
	m.untilPrinted(c)
	unknown := runtime.ID{PodUID: "unknown", Container: "main"}
	got := m.measure([]runtime.ID{c.ID, unknown}, volume, filepath.Dir(c.LogPath))
	if got.Roots[0] != 0 || got.Roots[1] != 0 || !about(got.Dirs[0], 2*mib) || got.Dirs[1] == 0 {
		t.Errorf("measured %+v", got)
	}
}
