package filesystem

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// The reserve of a file system is what is left free, as the server, and others, could not go on without it: the smaller of 5 % and
// 256 MiB, or 10,000 inodes.
const (
	reservePercent = 5
	reservedBytes  = 256 << 20
	reservedInodes = 10_000
)

// Reserve returns how many bytes are left free on a file system.
func (s Space) Reserve() int64 {
	return Share(s.Bytes, reservedBytes*100/reservePercent, reservePercent)
}

// Room returns how many bytes can be written until only the reserve is free.
func (s Space) Room() int64 {
	if s.Bytes == 0 {
		return math.MaxInt64 // It has no size of its own, like a tmpfs without a limit.
	}
	return max(s.BytesAvailable-s.Reserve(), 0)
}

// IsShort reports whether so little is free that a program may not be able to start.
func (s Space) IsShort() bool { return s.Bytes > 0 && s.BytesAvailable < reservedBytes }

// hasInodes reports whether more files can be created than the reserve allows for.
func (s Space) hasInodes() bool {
	return s.Inodes == 0 || s.InodesFree > Share(s.Inodes, reservedInodes*100/reservePercent, reservePercent)
}

// IsFull reports whether err means that there is no more space, or none but the reserve.
func IsFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// SaysFull is IsFull for an error of which another process may have sent only the text.
func SaysFull(err error) bool {
	return IsFull(err) || err != nil && slices.ContainsFunc([]error{unix.ENOSPC, unix.EDQUOT},
		func(full error) bool { return strings.Contains(err.Error(), full.Error()) })
}

// reserveError says that only the reserve is left.
type reserveError struct{ what, path string }

func (e *reserveError) Error() string {
	return fmt.Sprintf("there is no more space on the file system of %s, of which %s are kept in reserve", e.path, e.what)
}

func (e *reserveError) Unwrap() error { return unix.ENOSPC }

// Guard keeps a writer from taking the reserve of a file system. One goroutine at a time may use it.
type Guard struct {
	path string
	// allowed is how many bytes may be written before the free space is read again.
	allowed int64
}

// NewGuard returns a Guard of the file system of path.
func NewGuard(path string) *Guard { return &Guard{path: path} }

// maxAllowed bounds how much is written between two looks at the free space, which others take, too.
const maxAllowed = 1 << 20

// Take is called before so many bytes are written. It returns an error that is IsFull if only the reserve would be left.
func (g *Guard) Take(bytes int64) error {
	if g.allowed -= bytes; g.allowed >= 0 {
		return nil
	}
	space, err := SpaceOf(g.path)
	if err != nil {
		return err
	}
	g.allowed = min(space.Room()-bytes, maxAllowed)
	switch {
	case g.allowed < 0:
		return &reserveError{Text(space.Reserve()), g.path}
	case !space.hasInodes():
		g.allowed = 0
		return &reserveError{"some inodes", g.path}
	}
	return nil
}

// Writer writes to To what Take allows. It has no method ReadFrom, which would write past Take.
type Writer struct {
	To   io.Writer
	Take func(bytes int64) error
}

// Write implements io.Writer.
func (w Writer) Write(p []byte) (int, error) {
	if err := w.Take(int64(len(p))); err != nil {
		return 0, err
	}
	return w.To.Write(p)
}
