// Package crilog writes the output of a container to a log file in the CRI format, as kubelets do:
//
//	2026-01-02T15:04:05.999999999Z stdout F a whole line
//	2026-01-02T15:04:05.999999999Z stderr P the first 16 kB of a line that is longer
//
// The file is made when there is something to write: most containers of a large Job print nothing, and making a file costs
// more than starting a process. A file that grows too large is rotated: it gets a name with the date.
package crilog

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
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
	onLoss func(runtime.LostOutput)

	mu   sync.Mutex
	file *os.File
	// size is where the last whole record ends. torn: a write that failed has left a part of a record behind it.
	size int64
	torn bool
	// output is how much of the container's output the file has, from since on.
	output int64
	since  time.Time
	// checked is when the file was last seen to be in its directory.
	checked time.Time
	// lost is nil until output is lost.
	lost *runtime.LostOutput
}

// NewWriter writes to path, once there is something to write.
func NewWriter(path string, limits Limits) *Writer {
	return &Writer{path: path, limits: limits}
}

// append writes records, which hold so many bytes of output. If that fails it returns how many bytes of records are in the log:
// whole records. Later ones may be written all the same: a full disk may have room again, and the container must not
// block meanwhile.
func (w *Writer) append(records []byte, output int, now time.Time) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.prepare(now); err != nil {
		return 0, err
	}
	n, err := w.file.Write(records)
	if err != nil {
		whole := bytes.LastIndexByte(records[:n], '\n') + 1
		w.torn = n > whole
		n = whole
	} else {
		w.output += int64(output)
	}
	w.size += int64(n)
	_ = w.cutBack() // If it fails, the next append tries again.
	return n, err
}

// prepare has the file ready for the next record.
func (w *Writer) prepare(now time.Time) error {
	if err := w.cutBack(); err != nil {
		return err
	}
	full := w.size >= w.limits.MaxBytes
	if w.file != nil && (full || now.Sub(w.checked) >= checkEvery) {
		w.checkRemoved(now)
	}
	switch {
	case w.file == nil:
		return w.open(now)
	case full:
		_ = w.rotate(now) // If it fails, the file grows.
	}
	return nil
}

// cutBack removes what a write that failed has left behind the last whole record.
func (w *Writer) cutBack() error {
	if !w.torn {
		return nil
	}
	err := w.file.Truncate(w.size)
	w.torn = err != nil
	return err
}

func (w *Writer) open(now time.Time) error {
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
	w.output, w.since, w.checked = 0, now, now
	return nil
}

// checkEvery is how often a file that is written to is looked for in its directory.
const checkEvery = time.Second

var errRemoved = errors.New("its log was removed")

// checkRemoved closes the file if it was removed, so that another one is made.
func (w *Writer) checkRemoved(now time.Time) {
	w.checked = now
	var stat unix.Stat_t
	if err := unix.Fstat(int(w.file.Fd()), &stat); err != nil || stat.Nlink > 0 {
		return
	}
	w.file.Close()
	w.file = nil
	w.count(w.output, w.since, errRemoved)
}

// Close closes the file and returns what was lost; nil if all was written.
func (w *Writer) Close() *runtime.LostOutput {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file != nil {
		w.checkRemoved(w.checked)
	}
	if w.file != nil {
		w.file.Close()
		w.file = nil
	}
	return w.lost
}
