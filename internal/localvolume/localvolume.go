// Package localvolume keeps the directories of the volumes that the StorageClass "local" provisions:
//
//	<data directory>/persistentvolumes/<name of the PersistentVolume>
//
// Where a volume is depends on its name only: what its spec says may be forged, or of a time before the data directory was
// moved. Nothing but Remove removes a directory, and directories without a PersistentVolume stay.
package localvolume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/datadir"
)

// removedPrefix begins the names of volumes that are being removed. No PersistentVolume has such a name.
const removedPrefix = ".removed-"

// Dir has the directories of volumes.
type Dir struct {
	path string
	// empty removes what containers have written to a directory and this user may not remove.
	empty func(ctx context.Context, dir string) error
}

// Of returns the volumes in a data directory. Empty, unless nil, is called with a directory before it is removed: it removes
// what containers have written there and this user may not remove.
func Of(dataDir string, empty func(ctx context.Context, dir string) error) Dir {
	return Dir{path: filepath.Join(dataDir, datadir.PersistentVolumes), empty: empty}
}

// Path returns the directory of a volume.
func (d Dir) Path(volume string) string { return filepath.Join(d.path, volume) }

// Find returns the directory of a volume if it is there.
func (d Dir) Find(volume string) (string, error) {
	if err := checkName(volume); err != nil {
		return "", err
	}
	path := d.Path(volume)
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("the directory of PersistentVolume %q is gone: %w; delete its claim, or put the directory back", volume, err)
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a directory: move it away", path)
	}
	return path, nil
}

// Make makes the directory of a volume, which every user of a pod may write to. If it exists, it stays as it is.
func (d Dir) Make(_ context.Context, volume string) error {
	if err := checkName(volume); err != nil {
		return err
	}
	// Only the server's user may enter the directory above the volumes.
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return err
	}
	dir, err := beneath.Open(d.path)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.MakeShared(volume)
}

// Remove removes the directory of a volume with all that is in it. It follows no link, and crosses no mount point.
func (d Dir) Remove(ctx context.Context, volume string) error {
	if err := checkName(volume); err != nil {
		return err
	}
	dir, err := beneath.Open(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	// A volume that is only partly removed has another name, so that no pod takes it for whole.
	removed := removedPrefix + volume
	if err := dir.Rename(volume, removed); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var notEmptied error
	if d.empty != nil {
		notEmptied = d.empty(ctx, d.Path(removed))
	}
	if err := dir.Remove(ctx, removed); err != nil {
		return errors.Join(err, notEmptied)
	}
	return nil
}

func checkName(volume string) error {
	if !beneath.IsElement(volume) || volume[0] == '.' {
		return fmt.Errorf("%q is not the name of a PersistentVolume", volume)
	}
	return nil
}
