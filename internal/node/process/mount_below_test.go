package process_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// mountMemory mounts a file system at a new directory of the machine. Mounts below it are seen elsewhere too.
func mountMemory(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("test", dir, "tmpfs", 0, ""); err != nil {
		t.Skip("this test mounts file systems: ", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	if err := unix.Mount("", dir, "", unix.MS_SHARED, ""); err != nil {
		t.Fatal(err)
	}
}

func TestMountsBelowAVolume(t *testing.T) {
	const script = `for d in plain top all; do touch /$d/early/by-$d 2>/dev/null && echo $d; done; until test -e /plain/late/file; do sleep 0.02; done; echo late`
	for name, begin := range map[string]func(t *testing.T) (*machine, runtime.Container){
		"a process": func(t *testing.T) (*machine, runtime.Container) {
			m := mounter(t)
			return m, m.container("sh", "-c", script)
		},
		"a container of an image": func(t *testing.T) (*machine, runtime.Container) {
			m := imager(t)
			return m, m.imageContainer(imageTree(t), "/bin/sh", "-c", script)
		},
	} {
		t.Run(name, func(t *testing.T) {
			volume := filepath.Join(t.TempDir(), "volume")
			mountMemory(t, volume)
			mountMemory(t, filepath.Join(volume, "early"))
			m, c := begin(t)
			if !m.Info().CanMountReadOnly {
				t.Skip("this kernel cannot make several mounts read-only at once")
			}
			c.Mounts = []runtime.Mount{
				{HostPath: volume, ContainerPath: "/plain"},
				{HostPath: volume, ContainerPath: "/top", ReadOnly: true},
				{HostPath: volume, ContainerPath: "/all", ReadOnly: true, RecursiveReadOnly: true},
			}
			if s := m.start(c); s.State != runtime.Running {
				t.Fatal(s.StartError)
			}
			const written = "plain\ntop\n"
			await.Until(t, "the container has tried to write", func() bool { return m.outputIfAny(c) == written })
			mountMemory(t, filepath.Join(volume, "late"))
			write(t, filepath.Join(volume, "late", "file"), "")
			m.wait(c.ID)
			if got := m.output(c); got != written+"late\n" {
				t.Errorf("%q", got)
			}
		})
	}
}
