// Package rundir finds, makes and removes the run directory of a data directory. It is in memory, and the host process has
// its socket, its journal and other files in it that are of no use after a reboot.
//
//	DATA DIRECTORY/process-runtime                 holds the name: stint-UID-RANDOM
//	/run, /run/user/UID, /dev/shm or /tmp          one of them holds the run directory
//	└── stint-UID-RANDOM/data-directory            holds the path of the data directory
//
// A data directory may come from anywhere, so its files are not trusted. The file holds a name, not a path, and the name is
// looked for only where Stint makes run directories. The directory is used only if it belongs to this user, no other user
// may write to it, and it names the data directory in turn. No other user can create it first, as its name is random.
//
// A path may lead to another data directory later, so a host has its own open, as an Owner. A directory that was moved keeps its
// run directory and host. One that was deleted leaves an orphaned host, which the next control plane at its path ends.
package rundir

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/datadir"
)

// markName is the file that holds the path of the data directory. newMarkName is renamed to it.
const (
	markName    = "data-directory"
	newMarkName = "data-directory.new"
)

var runDirName = regexp.MustCompile(`^stint-[0-9]+-[0-9a-f]{32}$`)

// Find returns the run directory of dataDir; the error is fs.ErrNotExist if it has none.
func Find(dataDir string) (string, error) {
	p, err := openPointer(dataDir, os.O_RDWR)
	if err != nil {
		return "", err
	}
	defer p.Close()
	return p.find()
}

// FindOrMake returns the run directory of dataDir, and makes one if it has none. Processes that call it at the same time
// get the same directory.
func FindOrMake(dataDir string) (string, error) {
	p, err := openPointer(dataDir, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return "", err
	}
	defer p.Close()
	dir, err := p.find()
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	if dir, err = makeDir(dataDir); err != nil {
		return "", err
	}
	return dir, p.write(filepath.Base(dir))
}

// Leave makes dataDir have no run directory any more, if it has dir. The next FindOrMake makes another one.
func Leave(dataDir, dir string) error {
	p, err := openPointer(dataDir, os.O_RDWR)
	if err != nil {
		return err
	}
	defer p.Close()
	if name, err := p.read(); err != nil || name != filepath.Base(dir) {
		return nil // It has left it already.
	}
	return p.Truncate(0)
}

// Others returns the run directories, other than own, of data directories that were at the path dataDir. Those were deleted
// or moved since.
func Others(dataDir, own string) []string {
	var others []string
	for _, place := range places(os.Geteuid()) {
		entries, _ := os.ReadDir(place) // A place that cannot be read has none.
		for _, e := range entries {
			dir := filepath.Join(place, e.Name())
			if dir == own || !runDirName.MatchString(e.Name()) {
				continue
			}
			if owner, err := readMark(dir); err == nil && owner == dataDir {
				others = append(others, dir)
			}
		}
	}
	return others
}

// find looks for the run directory that the pointer names.
func (p *pointer) find() (string, error) {
	name, err := p.read()
	if err != nil {
		return "", err
	}
	for _, place := range places(os.Geteuid()) {
		dir := filepath.Join(place, name)
		var refused *refusal
		err := Check(dir, p.dataDir, os.Geteuid())
		switch {
		case err == nil:
			return dir, nil
		case !errors.As(err, &refused) && !errors.Is(err, fs.ErrNotExist):
			// It could not be checked. A new run directory would lead to a second host beside one that may run.
			return "", err
		}
	}
	return "", fmt.Errorf("a run directory of %s: %w", p.dataDir, fs.ErrNotExist)
}

// refusal is why a directory is not used as run directory.
type refusal struct{ reason string }

func (r *refusal) Error() string { return r.reason }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// Check returns why dir is not a run directory that Stint has made for dataDir. Uid is the id of this user outside of any
// user namespace.
func Check(dir, dataDir string, uid int) error {
	if !slices.Contains(places(uid), filepath.Dir(dir)) || !runDirName.MatchString(filepath.Base(dir)) {
		return refuse("%s is not where Stint makes run directories", dir)
	}
	owner, err := readMark(dir)
	if err != nil {
		return err
	}
	// A data directory that was moved keeps its run directory; a copy of it does not share that of the original.
	if owner != dataDir && pointsTo(owner, filepath.Base(dir)) {
		return refuse("%s is the run directory of %s", dir, owner)
	}
	return nil
}

// readMark returns the path of the data directory that dir was made for.
func readMark(dir string) (string, error) {
	var stat unix.Stat_t
	if err := unix.Lstat(dir, &stat); err != nil {
		return "", &os.PathError{Op: "lstat", Path: dir, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR || int(stat.Uid) != os.Geteuid() || stat.Mode&0o022 != 0 {
		return "", refuse("%s is not a directory that only user %d can write to", dir, os.Geteuid())
	}
	owner, err := readSmall(filepath.Join(dir, markName))
	if errors.Is(err, datadir.ErrNotAFile) {
		return "", refuse("the mark in %s: %v", dir, err)
	}
	if err == nil && !filepath.IsAbs(owner) {
		return "", refuse("%s does not say which data directory it belongs to", dir)
	}
	return owner, err
}

// makeDir makes a run directory, in memory if possible, because its files change with every container.
func makeDir(dataDir string) (string, error) {
	random := make([]byte, 16)
	_, _ = rand.Read(random) // It never fails.
	name := fmt.Sprintf("stint-%d-%s", os.Geteuid(), hex.EncodeToString(random))
	var failed error
	for _, onlyMemory := range []bool{true, false} {
		for _, place := range places(os.Geteuid()) {
			if onlyMemory != inMemory(place) {
				continue
			}
			dir := filepath.Join(place, name)
			err := os.Mkdir(dir, 0o711)
			if err == nil {
				return dir, Mark(dir, dataDir)
			}
			failed = err
		}
	}
	return "", fmt.Errorf("no directory for the socket of the host process: %w", failed)
}

// Mark writes dataDir to the mark of dir, atomically, because control planes may read the mark at the same time.
func Mark(dir, dataDir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.WriteFile(newMarkName, []byte(dataDir), 0o600); err != nil {
		return err
	}
	return root.Rename(newMarkName, markName)
}

// Remove removes the files of these names from dir, and then dir itself. It fails if other files than the mark are left.
func Remove(dir string, names ...string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range append(names, newMarkName) {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	left, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range left {
		if e.Name() != markName {
			return fmt.Errorf("%s is not removed, because it contains %s", dir, e.Name())
		}
	}
	if err := root.Remove(markName); err != nil {
		return err
	}
	return os.Remove(dir)
}
