// Package filesystem has the size and the free space of file systems.
package filesystem

import (
	"fmt"
	"math"
	"math/bits"
	"os"

	"golang.org/x/sys/unix"
)

// Space is the size of a file system and the space that is available to this user. Inodes is 0 if it has no fixed number of them.
type Space struct{ Bytes, BytesAvailable, Inodes, InodesFree int64 }

// SpaceOf returns the space of the file system of path.
func SpaceOf(path string) (Space, error) {
	var stat unix.Statfs_t
	for {
		err := unix.Statfs(path, &stat)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return Space{}, &os.PathError{Op: "statfs", Path: path, Err: err}
		}
	}
	return Space{
		Bytes: bytesOf(stat.Blocks, stat.Bsize), BytesAvailable: bytesOf(stat.Bavail, stat.Bsize),
		Inodes: int64(stat.Files), InodesFree: int64(stat.Ffree),
	}, nil
}

// bytesOf returns how many bytes so many blocks have. Some network file systems say that they have more than a number can hold.
func bytesOf(blocks uint64, size int64) int64 {
	if high, low := bits.Mul64(blocks, uint64(size)); high == 0 && low <= math.MaxInt64 {
		return int64(low)
	}
	return math.MaxInt64
}

// Share returns a percentage of total, of which at most most counts, as a few percent of a large disk are much.
func Share(total, most int64, percent int) int64 {
	return min(total, most) * int64(percent) / 100
}

// Text formats a number of bytes with few digits.
func Text(bytes int64) string {
	const mib, gib, tib, pib = 1 << 20, 1 << 30, 1 << 40, 1 << 50
	switch {
	case bytes >= pib:
		return fmt.Sprintf("%.1f PiB", float64(bytes)/pib)
	case bytes >= tib:
		return fmt.Sprintf("%.1f TiB", float64(bytes)/tib)
	case bytes >= gib:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/gib)
	}
	return fmt.Sprintf("%d MiB", bytes/mib)
}
