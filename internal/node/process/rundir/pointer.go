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

// maxBytes bounds how much of the pointer file is read.
const maxBytes = 256

// pointer is the locked pointer file.
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

// read returns the name; the error is fs.ErrNotExist if the file has no valid one.
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

// write replaces the name. It is not synced: after a crash of the machine the name may be invalid, but then no containers
// are left either.
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
