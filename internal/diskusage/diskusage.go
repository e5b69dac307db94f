// Package diskusage measures how much disk space a directory takes with all its contents, which may change meanwhile.
//
// No link is followed, and what is mounted below the directory is not counted.
package diskusage

import (
	"context"
	"os"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/filetree"
)

const (
	// block is the unit of st_blocks on every file system.
	block = 512
	// maxCounted bounds how many files with several names are remembered. For further ones each name counts for its share
	// of the size.
	maxCounted = 1 << 20
)

// Of returns how many bytes are allocated for the directory and all its contents; a file with several names there counts
// once. It leaves out what this process may not read, and what is removed or moved away meanwhile.
func Of(ctx context.Context, top *os.File) (int64, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(int(top.Fd()), &stat); err != nil {
		return 0, &os.PathError{Op: "stat", Path: top.Name(), Err: err}
	}
	m := measurement{blocks: stat.Blocks, counted: map[inode]bool{}}
	if err := (filetree.Walk{Visit: m.visit, SkipDenied: true}).Below(ctx, top); err != nil {
		return 0, err
	}
	return m.blocks * block, nil
}

type inode struct{ device, number uint64 }

type measurement struct {
	blocks int64
	// counted are the files with several names that were counted.
	counted map[inode]bool
}

func (m *measurement) visit(_ *os.File, _ string, stat *unix.Stat_t) error {
	m.blocks += m.share(stat)
	return nil
}

// share is how many blocks of a file are counted for the name that is visited.
func (m *measurement) share(stat *unix.Stat_t) int64 {
	self := inode{uint64(stat.Dev), stat.Ino}
	switch isDir := stat.Mode&unix.S_IFMT == unix.S_IFDIR; {
	case isDir || stat.Nlink <= 1:
		return stat.Blocks
	case m.counted[self]:
		return 0
	case len(m.counted) >= maxCounted:
		return stat.Blocks / int64(stat.Nlink)
	}
	m.counted[self] = true
	return stat.Blocks
}
