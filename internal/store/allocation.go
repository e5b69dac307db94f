package store

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/datadir"
	"github.com/stint-dev/stint/internal/filesystem"
)

// nextSegments are etcd's names of segments that its log has not begun.
var nextSegments = []string{"0.tmp", "1.tmp"}

// open prepares the start of etcd, which needs the first of the next segments. What etcd had begun to write there when it was killed is
// removed.
func (h *headroom) open() error {
	if err := h.spares.open(); err != nil {
		return unusable(filepath.Dir(h.dir), err)
	}
	log := filepath.Join(h.dir, "member", "wal")
	if begun, err := exists(log); !begun || err != nil {
		return ifFull(h.dir, firstStartBytes, checkFree(h.dir, firstStartBytes))
	}
	first, second := filepath.Join(log, nextSegments[0]), filepath.Join(log, nextSegments[1])
	for _, path := range []string{first, second} {
		if isBegun(path) {
			_ = os.Remove(path)
		}
	}
	if there, err := exists(first); err == nil && !there {
		_ = os.Rename(second, first)
	}
	return ifFull(h.dir, spareBytes, h.placeSegment(first))
}

// isBegun reports whether the segment has a first record.
func isBegun(path string) bool {
	f, err := datadir.Open(path, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	var length [8]byte // of that record
	_, _ = io.ReadFull(f, length[:])
	return length != [8]byte{}
}

// complete allocates the rest of the log's last segment, the next segments, the next part of the database, and the spare segments.
func (h *headroom) complete() (room, error) {
	if err := h.giveUpFor(h.extendLog); err != nil {
		return blocked, err
	}
	missing, err := h.placeSegments()
	if missing > 1 || missing == 1 && h.logLeft() < lookBytes+burstBytes {
		return blocked, err
	}
	wanted := wantedHeadroom(h.dir)
	if err := h.giveUpFor(func() error { return h.extendDatabase(wanted.database / 2) }); err != nil {
		return blocked, err
	}
	if missing > 0 {
		return scarce, err
	}
	err = h.extendDatabase(wanted.database)
	spares, noSpare := h.spares.fill(wanted.spares)
	switch err = cmp.Or(err, noSpare); {
	case err == nil:
		return enough, nil
	case spares > 0:
		return tight, err
	default:
		return scarce, err
	}
}

// giveUpFor gives up spare segments until there is space for an allocation.
func (h *headroom) giveUpFor(allocate func() error) error {
	err := allocate()
	for filesystem.IsFull(err) && h.spares.giveUp() {
		err = allocate()
	}
	return err
}

// extendLog allocates the last segment of the log, and space beyond its end. etcd frees what is beyond the last entry when it opens
// the log.
func (h *headroom) extendLog() error {
	return allocate(h.lastSegment(), spareBytes)
}

// lastSegment returns the path of the segment of the log that is being written.
func (h *headroom) lastSegment() string {
	wal := filepath.Join(h.dir, "member", "wal")
	segments, _ := fs.Glob(os.DirFS(wal), "*.wal") // The pattern is well-formed.
	return filepath.Join(wal, slices.Max(append(segments, "")))
}

// placeSegments makes the next segments of the log, and returns how many are missing. When etcd begins one, it makes the other one at once,
// and never tries again: both must be there then.
func (h *headroom) placeSegments() (missing int, err error) {
	for _, name := range nextSegments {
		if failed := h.placeSegment(filepath.Join(h.dir, "member", "wal", name)); failed != nil {
			missing++
			err = failed
		}
	}
	return missing, err
}

// logLeft returns how much can be written to the log until etcd begins the next segment.
func (h *headroom) logLeft() int64 {
	f, err := datadir.Open(h.lastSegment(), os.O_RDONLY)
	if err != nil {
		return 0
	}
	defer f.Close()
	chunk := make([]byte, 64<<10)
	for end := int64(segmentBytes); end > 0; end -= int64(len(chunk)) {
		n, _ := f.ReadAt(chunk, end-int64(len(chunk)))
		if used := len(bytes.TrimRight(chunk[:n], "\x00")); used > 0 {
			return segmentBytes - end + int64(len(chunk)-used)
		}
	}
	return segmentBytes
}

// placeSegment makes the file that etcd will use as a segment.
func (h *headroom) placeSegment(path string) error {
	err := allocate(path, spareBytes)
	if errors.Is(err, fs.ErrNotExist) {
		err = h.spares.moveTo(path)
	}
	if errors.Is(err, fs.ErrExist) { // etcd has just made it itself.
		err = allocate(path, spareBytes)
	}
	return err
}

// extendDatabase allocates what the database needs to grow by so many bytes. It writes free pages first, but a large value takes many
// in a row.
func (h *headroom) extendDatabase(growth int64) error {
	size := h.database.Size()
	free := size - h.database.SizeInUse()
	return allocate(filepath.Join(h.dir, "member", "snap", "db"), size+max(growth-free, burstBytes))
}

// amount is a number of spare segments, and by how much the database can grow.
type amount struct {
	spares   int
	database int64
}

// wantedHeadroom is less on a small disk. The database gets more than etcd writes in several commits.
func wantedHeadroom(dir string) amount {
	space, err := filesystem.SpaceOf(dir)
	switch {
	case err != nil || space.Bytes == 0 || space.Bytes >= 512<<20:
		return amount{spares: 2, database: 16 << 20}
	case space.Bytes >= 256<<20:
		return amount{spares: 1, database: 16 << 20}
	default:
		return amount{spares: 0, database: 8 << 20}
	}
}

// keepSegments calls do, which starts or stops etcd, and keeps the segment that etcd removes when it closes its log: if the disk is full,
// the next start cannot allocate another one. Meanwhile nothing is allocated.
func (h *headroom) keepSegments(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range nextSegments {
		h.spares.keep(filepath.Join(h.dir, "member", "wal", name))
	}
	do()
	h.spares.dropUsed()
}

// allocate gives a file so many bytes of disk space, and leaves its size as it is.
func allocate(path string, size int64) error {
	f, err := datadir.Open(path, os.O_WRONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	var stat unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
		return &os.PathError{Op: "fstat", Path: path, Err: err}
	}
	if allocated(stat) >= size {
		return nil
	}
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size)
	}
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return checkFree(path, size-allocated(stat))
	}
	if err != nil {
		return &os.PathError{Op: "allocate", Path: path, Err: err}
	}
	return nil
}

// allocated returns how many bytes of disk space a file has.
func allocated(stat unix.Stat_t) int64 { return stat.Blocks * 512 }

// checkFree is used instead of an allocation on file systems that have none, such as NFS.
func checkFree(path string, size int64) error {
	space, err := filesystem.SpaceOf(path)
	if err == nil && space.BytesAvailable < size {
		err = &os.PathError{Op: "allocate", Path: path, Err: unix.ENOSPC}
	}
	return err
}
