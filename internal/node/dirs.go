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

	"github.com/stint-dev/stint/internal/node/removal"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// podDirs owns the folders of the pods. What they hold stays until the pod has ended:
//
//	pods/<uid>/volumes/<name>
//	pods/<uid>/termination/<container>.<n>    the message of attempt n
type podDirs struct {
	dir      string
	removals *removal.Queue
}

func newPodDirs(dataDir string, rt runtime.Runtime, leaveWithin time.Duration) *podDirs {
	d := &podDirs{dir: filepath.Join(dataDir, "pods")}
	d.removals = removal.New(d.dir, leaveWithin, func(ctx context.Context, folder string) {
		// What the runtime cannot do is tried without it.
		_ = rt.RemovePod(ctx, types.UID(folder), filepath.Join(d.dir, folder))
	})
	return d
}

func (d *podDirs) of(uid types.UID) string { return filepath.Join(d.dir, string(uid)) }

func (d *podDirs) volumes(uid types.UID) string { return filepath.Join(d.of(uid), "volumes") }

func (d *podDirs) terminationMessage(id runtime.ID) string {
	return filepath.Join(d.of(id.PodUID), "termination", fmt.Sprintf("%s.%d", id.Container, id.Attempt))
}

// remove removes the folder of a pod, which the runtime has let go of.
func (d *podDirs) remove(uid types.UID) error { return d.removals.Remove(string(uid)) }

// removeLeftovers throws away the folders of pods that are over, from a time when the node did not see to them.
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
