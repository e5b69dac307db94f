package rundir

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/datadir"
)

// PointerName is the file in the data directory that holds the name of the run directory.
const PointerName = "process-runtime"

// maxBytes bounds what is read of a file that ought to hold a name.
const maxBytes = 256

// pointer is that file, locked.
type pointer struct {
	*os.File
	dataDir string
}

func openPointer(dataDir string, flags int) (*pointer, error) {
	f, err := datadir.Open(filepath.Join(dataDir, PointerName), flags)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		f.Close()
		return nil, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return &pointer{f, dataDir}, nil
}

// read returns the name; the error is fs.ErrNotExist where there is none that could be right.
func (p *pointer) read() (string, error) {
	text, err := io.ReadAll(io.LimitReader(p, maxBytes))
	if err != nil {
		return "", err
	}
	name := strings.TrimSpace(string(text))
	if !runDirName.MatchString(name) {
		return "", fmt.Errorf("a name in %s: %w", p.Name(), fs.ErrNotExist)
	}
	return name, nil
}

// write replaces the name. A crash leaves one that is not right at worst, in a machine whose containers are gone.
func (p *pointer) write(name string) error {
	if err := p.Truncate(0); err != nil {
		return err
	}
	_, err := p.WriteAt([]byte(name+"\n"), 0)
	return err
}

// pointsTo reports whether the data directory names the run directory as its own.
func pointsTo(dataDir, name string) bool {
	text, err := readSmall(filepath.Join(dataDir, PointerName))
	return err == nil && strings.TrimSpace(text) == name
}

func readSmall(path string) (string, error) {
	text, err := datadir.ReadFile(path)
	return string(text), err
}
