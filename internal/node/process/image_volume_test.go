package process_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stint-dev/stint/internal/localvolume"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// What users of the image have written may belong to ids that only the host process may use.
func TestAVolumeThatAnImageHasWrittenIsRemoved(t *testing.T) {
	m := imager(t)
	volumes := localvolume.Of(t.TempDir(), m.RemoveVolume)
	if err := volumes.Make(await.Context(t), "pvc-1"); err != nil {
		t.Fatal(err)
	}
	decoy := filepath.Join(t.TempDir(), "kept")
	write(t, decoy, "kept")
	c := m.imageContainer(imageTree(t), "sh", "-c", "mkdir -p /data/a/b && chmod 700 /data/a && echo x > /data/a/b/file && ln -s "+filepath.Dir(decoy)+" /data/a/link && chmod 500 /data/a/b")
	if m.Info().ImageIDs > 1000 {
		c.User = &runtime.User{UID: 1000, GID: 1000}
	}
	c.Mounts = []runtime.Mount{{HostPath: volumes.Path("pvc-1"), ContainerPath: "/data"}}
	m.printed(c)
	if _, err := os.Lstat(filepath.Join(volumes.Path("pvc-1"), "a")); err != nil {
		t.Fatal(err)
	}
	if err := volumes.Remove(await.Context(t), "pvc-1"); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(filepath.Dir(volumes.Path("pvc-1"))); err != nil || len(entries) > 0 {
		t.Errorf("left %v, %v", entries, err)
	}
	if _, err := os.Stat(decoy); err != nil {
		t.Error(err)
	}
}
