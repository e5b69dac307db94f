package process_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/filesystem"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/smalldisk"
)

func TestAFullDiskIsNoFaultOfTheContainer(t *testing.T) {
	smalldisk.Run(t, 16, func(dir string) {
		volume := filepath.Join(dir, "volume")
		if err := os.Mkdir(volume, 0o700); err != nil {
			t.Fatal(err)
		}
		// A directory takes an inode there, and no block.
		if err := unix.Mount("none", volume, "tmpfs", 0, "nr_inodes=1"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Unmount(volume, unix.MNT_DETACH) })
		m := startIn(t, dir) // It sees the mounts that there are now.
		if !m.Info().CanMount {
			t.Skip("volumes cannot be shown here: " + m.Info().WhyNoMount)
		}
		c := m.container("true")
		c.Mounts = []runtime.Mount{{HostPath: volume, SubPath: "made/anew", ContainerPath: "/mnt"}}
		if s, err := m.Start(await.Context(t), c); !filesystem.SaysFull(err) {
			t.Errorf("on a full disk it ends as %+v, %v", s, err)
		}
		if err := unix.Mount("none", volume, "tmpfs", unix.MS_REMOUNT, "nr_inodes=9"); err != nil {
			t.Fatal(err)
		}
		if s := m.run(c); s.ExitCode != 0 || s.StartError != "" {
			t.Errorf("when there is room, it ends as %+v", s)
		}
	})
}
