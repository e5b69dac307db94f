// Package diskpressure decides when a node takes no more pods because its disks are full, and which pods it names then.
//
// The signals are a kubelet's (nodefs.available, imagefs.available, nodefs.inodesFree), the thresholds are not: a few
// percent of a large disk are no reason to refuse work. See docs/decisions/0021.
package diskpressure

import (
	"fmt"

	"github.com/stint-dev/stint/internal/filesystem"
)

// Percentages of a file system that have to be free: pressure begins below the first, and ends at the second.
const (
	beginsBytes, endsBytes   = 10, 12
	beginsInodes, endsInodes = 5, 6
)

// Sizes of a file system beyond which the thresholds do not grow: pressure begins below 1 GiB, or 50,000 inodes, at most.
const (
	enoughBytes  = 10 << 30
	enoughInodes = 1_000_000
)

// FileSystem is a file system that pods need.
type FileSystem struct {
	Dir   string
	Space filesystem.Space
}

// Pressure is what is short; the zero value means that nothing is.
type Pressure struct {
	// Message stays the same while the pressure lasts.
	Message string
	FileSystem
	// Bytes are short, not inodes.
	Bytes bool
}

// IsThere reports whether there is pressure.
func (p Pressure) IsThere() bool { return p.Message != "" }

// Check returns what is short on the first file system that is too full. UnderPressure says whether there was pressure before.
func Check(underPressure bool, systems []FileSystem) Pressure {
	percentBytes, percentInodes := beginsBytes, beginsInodes
	if underPressure {
		percentBytes, percentInodes = endsBytes, endsInodes
	}
	for _, f := range systems {
		if f.Space.BytesAvailable < filesystem.Share(f.Space.Bytes, enoughBytes, percentBytes) {
			message := fmt.Sprintf("less than %s are free on the file system of %s: remove files until %s are free; stint image rm and prune remove images",
				filesystem.Text(filesystem.Share(f.Space.Bytes, enoughBytes, beginsBytes)), f.Dir,
				filesystem.Text(filesystem.Share(f.Space.Bytes, enoughBytes, endsBytes)))
			return Pressure{message, f, true}
		}
		if f.Space.InodesFree < filesystem.Share(f.Space.Inodes, enoughInodes, percentInodes) {
			message := fmt.Sprintf("less than %d inodes are free on the file system of %s: remove files until %d are free",
				filesystem.Share(f.Space.Inodes, enoughInodes, beginsInodes), f.Dir,
				filesystem.Share(f.Space.Inodes, enoughInodes, endsInodes))
			return Pressure{message, f, false}
		}
	}
	return Pressure{}
}
