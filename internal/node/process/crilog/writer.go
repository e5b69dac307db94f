// Package crilog writes the output of a container to a log file in the CRI format, as kubelets do:
//
//	2026-01-02T15:04:05.999999999Z stdout F a whole line
//	2026-01-02T15:04:05.999999999Z stderr P the first 16 kB of a line that is longer
//
// The file is made when there is something to write: most containers of a large Job print nothing, and making a file costs
// more than starting a process. A file that grows too large is rotated: it gets a name with the date.
package crilog

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Limits bound the size of one container's log.
type Limits struct {
	// MaxBytes is the size at which a file is rotated.
	MaxBytes int64
	// MaxFiles is the number of files, including the current one.
	MaxFiles int
}

// DefaultLimits are a kubelet's.
var DefaultLimits = Limits{MaxBytes: 10 << 20, MaxFiles: 5}

// Writer is one container's log file. Both its streams write to it.
type Writer struct {
	path   string
	limits Limits

	mu   sync.Mutex
	file *os.File
	size int64
	err  error
}

// NewWriter writes to path, once there is something to write.
func NewWriter(path string, limits Limits) *Writer {
	return &Writer{path: path, limits: limits}
}

// append writes whole log lines. After a failure it tries again with the next lines: a full disk may have room
// later, and the container must not block meanwhile.
func (w *Writer) append(lines []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.write(lines); err != nil {
		w.err = fmt.Errorf("container log: %w", err)
	}
}

func (w *Writer) write(lines []byte) error {
	if w.file != nil && w.size >= w.limits.MaxBytes {
		if err := w.rotate(time.Now()); err != nil {
			return err
		}
	}
	if w.file == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	n, err := w.file.Write(lines)
	w.size += int64(n)
	return err
}

func (w *Writer) open() error {
	const flags = os.O_CREATE | os.O_APPEND | os.O_WRONLY
	f, err := os.OpenFile(w.path, flags, 0o640)
	if os.IsNotExist(err) {
		if err = os.MkdirAll(filepath.Dir(w.path), 0o700); err == nil {
			f, err = os.OpenFile(w.path, flags, 0o640)
		}
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	w.file, w.size = f, info.Size()
	return nil
}

// Close closes the file and returns the last failure to write, if there was one.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file != nil {
		w.file.Close()
		w.file = nil
	}
	return w.err
}
