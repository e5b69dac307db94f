package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/node/volumes"
)

// starts is how many containers are started during an attack.
const starts = 300

// attack is a volume with a directory and a link to the decoy, a directory outside of it that holds a secret. They have the
// names "sub" and "other", which the attack exchanges.
type attack struct {
	t             *testing.T
	volume, decoy string
}

func newAttack(t *testing.T) *attack {
	a := &attack{t: t, volume: t.TempDir(), decoy: t.TempDir()}
	write(t, filepath.Join(a.decoy, "file"), "secret\n")
	write(t, filepath.Join(a.volume, "sub", "file"), "own\n")
	if err := os.Symlink(a.decoy, filepath.Join(a.volume, "other")); err != nil {
		t.Fatal(err)
	}
	return a
}

// swap exchanges the two names atomically.
func (a *attack) swap() error {
	return unix.Renameat2(unix.AT_FDCWD, filepath.Join(a.volume, "sub"), unix.AT_FDCWD, filepath.Join(a.volume, "other"),
		unix.RENAME_EXCHANGE)
}

// start swaps again and again until the test ends, and calls besides each time.
func (a *attack) start(besides func()) {
	var over sync.WaitGroup
	end := make(chan struct{})
	over.Go(func() {
		for {
			select {
			case <-end:
				return
			default:
			}
			if err := a.swap(); err != nil {
				a.t.Error(err)
				return
			}
			besides()
		}
	})
	a.t.Cleanup(func() {
		close(end)
		over.Wait()
	})
}

// check fails the test if the decoy was changed.
func (a *attack) check() {
	a.t.Helper()
	entries, err := os.ReadDir(a.decoy)
	if err != nil || len(entries) != 1 {
		a.t.Fatalf("outside the volume there is %v (%v)", entries, err)
	}
}

// A directory that was checked must be the one that is mounted, even if its name has changed in between.
func TestASubPathIsResolvedWhereItIsMounted(t *testing.T) {
	m := mounter(t)
	a := newAttack(t)
	spec := &corev1.Container{VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/mnt", SubPath: "sub"}}}
	pod := volumes.Pod{Dir: t.TempDir(), Pod: &corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{{
		Name: "v", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: a.volume}},
	}}}}}
	mounts, err := volumes.Maker{}.Mounts(t.Context(), pod, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.swap(); err != nil {
		t.Fatal(err)
	}
	c := m.container("cat", "/mnt/file")
	c.Mounts = mounts
	if s := m.run(c); !strings.Contains(s.StartError, `subPath "sub" leads out of the volume`) {
		t.Errorf("ended as %+v: %s", s, m.output(c))
	}
}

func TestAMountPointThatIsSwappedIsNeverMadeOutsideItsVolume(t *testing.T) {
	m := mounter(t)
	a := newAttack(t)
	inside, err := os.OpenRoot(filepath.Join(a.volume, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	a.start(func() { _ = inside.Remove("point") })
	for i := range starts {
		c := m.container("cat", "/mnt/file")
		c.Container = fmt.Sprint("c", i)
		c.Mounts = []runtime.Mount{
			{HostPath: a.volume, ContainerPath: "/mnt"}, {HostPath: t.TempDir(), ContainerPath: "/mnt/sub/point"},
			// A directory that is not a volume is shadowed, and it may be either of the two.
			{HostPath: t.TempDir(), ContainerPath: filepath.Join(a.volume, "sub", "shadowed")},
		}
		m.run(c)
		a.check()
	}
}
