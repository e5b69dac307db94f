package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/node/removal"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// podDirs manages the folders of pods. They stay until the pod has terminated:
//
//	pods/<uid>/volumes/<name>
//	pods/<uid>/hosts                          what processes find as /etc/hosts, if it is not the machine's
//	pods/<uid>/resolv.conf                    the same for /etc/resolv.conf
//	pods/<uid>/termination/<container>.<n>    the termination message of attempt n
type podDirs struct {
	dir      string
	removals *removal.Queue
}

func newPodDirs(dataDir string, rt runtime.Runtime, leaveWithin time.Duration) *podDirs {
	d := &podDirs{dir: filepath.Join(dataDir, "pods")}
	d.removals = removal.New(d.dir, leaveWithin, func(ctx context.Context, folder string) {
		// If this fails, the folder is removed without the runtime's help.
		_ = rt.RemovePod(ctx, types.UID(folder), filepath.Join(d.dir, folder))
	})
	return d
}

func (d *podDirs) of(uid types.UID) string { return filepath.Join(d.dir, string(uid)) }

func (d *podDirs) volumes(uid types.UID) string { return filepath.Join(d.of(uid), "volumes") }

func (d *podDirs) terminationMessage(id runtime.ID) string {
	return filepath.Join(d.of(id.PodUID), "termination", fmt.Sprintf("%s.%d", id.Container, id.Attempt))
}

// remove removes the folder of a pod, after Runtime.RemovePod. What is left when ctx ends can be removed later.
func (d *podDirs) remove(ctx context.Context, uid types.UID) error {
	return d.removals.Remove(ctx, string(uid))
}

// removeVolumes removes the volumes in the folder of a pod, after Runtime.RemovePod.
func (d *podDirs) removeVolumes(ctx context.Context, uid types.UID) error {
	dir, err := beneath.Open(d.of(uid))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Remove(ctx, filepath.Base(d.volumes(uid)))
}

// removeLeftovers queues the folders of pods that terminated while the node did not run.
func (d *podDirs) removeLeftovers(active func(types.UID) bool) error {
	entries, err := os.ReadDir(d.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && !active(types.UID(e.Name())) {
			d.removals.Add(e.Name(), time.Time{})
		}
	}
	return nil
}
