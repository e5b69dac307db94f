package podlogs

import (
	"io/fs"
	"path/filepath"
	"time"
)

// block is what the smallest file or folder takes on most disks. Counting in blocks bounds the number of files too.
const block = 4 << 10

// trim removes the logs of the pods that terminated first until the others fit. It waits until all are counted, as it
// cannot know the oldest before that.
func (r *Retention) trim() {
	if r.Cordoned || !r.counted {
		return
	}
	var until time.Time
	for r.retained.bytes > r.Limit {
		l := r.retained.oldest[0]
		r.retained.remove(l)
		r.removals.Add(l.folder, l.dropAfter)
		until = l.owner.Ended
	}
	if until.After(r.dropped) {
		r.dropUntil(until)
	}
}

// measure returns how many bytes of the disk a pod's log folder takes.
func measure(dir string) (int64, error) {
	bytes := int64(block) // the file of the owner
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		size := info.Size()
		if e.IsDir() {
			size = block
		}
		if e.Name() != ownerName {
			bytes += (size + block - 1) / block * block
		}
		return nil
	})
	return bytes, err
}
