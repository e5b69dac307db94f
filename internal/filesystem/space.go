// Package filesystem tells how much room file systems have, and when that is too little.
package filesystem

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Space is the size of a file system, and what this user may still take of it. One that does not count its inodes has 0.
type Space struct{ Bytes, BytesAvailable, Inodes, InodesFree int64 }

// SpaceOf looks at the file system of path.
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

// Share is a percentage of total. A few percent of something large are plenty, so no more of it counts than most.
func Share(total, most int64, percent int) int64 {
	return min(total, most) * int64(percent) / 100
}

// Text is a number of bytes in few digits.
func Text(bytes int64) string {
	const gib, mib = 1 << 30, 1 << 20
	if bytes >= gib {
		return fmt.Sprintf("%.1f GiB", float64(bytes)/gib)
	}
	return fmt.Sprintf("%d MiB", bytes/mib)
}
