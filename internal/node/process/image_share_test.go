package process_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

func TestAnImageSharesAVolumeWithItsGroup(t *testing.T) {
	m := imager(t)
	if !m.Info().CanShareVolumes {
		t.Skip("this user has no group to share with: " + m.Info().WhyOneImageID)
	}
	dir, secret := t.TempDir(), t.TempDir()
	write(t, filepath.Join(secret, "key"), "word\n")
	for path, mode := range map[string]os.FileMode{filepath.Join(secret, "key"): 0o440, secret: 0o750, dir: 0o770} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{dir, secret} {
		if err := m.ShareVolume(await.Context(t), path, beneath.Share{Group: 2000}); err != nil {
			t.Fatal(err)
		}
	}
	c := m.imageContainer(imageTree(t), "sh", "-c", `cat /secret/key; for d in /work /memory; do touch $d/f; mkdir $d/d; stat -c %u:%g $d/f $d/d; done
		echo x 2>/dev/null > /secret/key || echo refused`)
	c.User = &runtime.User{UID: 1000, GID: 1000, Groups: []uint32{2000}}
	c.Mounts = []runtime.Mount{
		{HostPath: dir, ContainerPath: "/work"}, {HostPath: secret, ContainerPath: "/secret", ReadOnly: true},
		{HostPath: filepath.Join(t.TempDir(), "memory"), ContainerPath: "/memory", Tmpfs: true, Group: 2000},
	}
	if got, want := m.printed(c), "word\n1000:2000\n1000:2000\n1000:2000\n1000:2000\nrefused\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	// They still belong to this user.
	if err := os.WriteFile(filepath.Join(secret, "other"), nil, 0o600); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(secret, "key")); err != nil {
		t.Error(err)
	}
	c.Container, c.User = "other", &runtime.User{UID: 1000, GID: 1000}
	c.Command = []string{"sh", "-c", "ls /work/f /secret/other 2>/dev/null || echo refused"}
	c.LogPath += ".other"
	if got := m.printed(c); got != "refused\n" {
		t.Errorf("one that is not in the group prints %q", got)
	}
	if err := m.ShareVolume(await.Context(t), filepath.Join(dir, "none"), beneath.Share{Group: 2000}); err == nil {
		t.Error("what is not there was shared")
	}
	if err := m.RemovePod(await.Context(t), c.PodUID, dir); err != nil {
		t.Error(err)
	}
}
