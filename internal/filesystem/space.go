// Package filesystem has the size and the free space of file systems.
package filesystem

import (
	"fmt"
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
		Bytes: int64(stat.Blocks) * stat.Bsize, BytesAvailable: int64(stat.Bavail) * stat.Bsize,
		Inodes: int64(stat.Files), InodesFree: int64(stat.Ffree),
	}, nil
}

// Share returns a percentage of total, of which at most most counts, as a few percent of a large disk are much.
func Share(total, most int64, percent int) int64 {
	return min(total, most) * int64(percent) / 100
}

// Text formats a number of bytes with few digits.
func Text(bytes int64) string {
	const gib, mib = 1 << 30, 1 << 20
	if bytes >= gib {
		return fmt.Sprintf("%.1f GiB", float64(bytes)/gib)
	}
	return fmt.Sprintf("%d MiB", bytes/mib)
}
