package podlogs

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/datadir"
)

// podLogBytes bounds the logs of a pod that has not been deleted. The last two starts of each container are kept even
// beyond it, as log rotation bounds each of them.
const podLogBytes = 64 << 20

// startLog is a file of the log of one start of a container.
type startLog struct {
	container string
	start     int
	path      string
	bytes     int64
	written   time.Time
}

// TrimStarts removes logs of earlier starts of a pod's containers. It is called before another start.
func (s *Store) TrimStarts(pod *corev1.Pod) {
	dir := filepath.Join(s.dir, folderOf(pod.Namespace, pod.Name, pod.UID))
	for _, old := range outdated(startLogs(dir), podLogBytes) {
		err := os.WriteFile(filepath.Join(filepath.Dir(old.path), trimmedName), []byte(strconv.Itoa(old.start)), 0o600)
		if err == nil {
			err = os.Remove(old.path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			slog.Warn("remove the log of an earlier start", "error", err)
		}
	}
}

// trimmedName is the file in a container's log folder with the number of the last start whose log was removed.
const trimmedName = "trimmed"

// trimmed reports whether the log of a start was removed.
func trimmed(dir string, start int32) bool {
	text, err := datadir.ReadFile(filepath.Join(dir, trimmedName))
	upTo, bad := strconv.Atoi(string(text))
	return err == nil && bad == nil && int(start) <= upTo
}

// outdated returns the files to remove so that the logs stay within the bound, the oldest first. The newest start of
// each container, and the one before it, stay.
func outdated(files []startLog, bound int64) []startLog {
	newest, sum := map[string]int{}, int64(0)
	for _, f := range files {
		newest[f.container] = max(newest[f.container], f.start)
		sum += f.bytes
	}
	slices.SortFunc(files, func(a, b startLog) int { return a.written.Compare(b.written) })
	var gone []startLog
	for _, f := range files {
		if sum > bound && f.start < newest[f.container]-1 {
			gone = append(gone, f)
			sum -= f.bytes
		}
	}
	return gone
}

// startLogs lists the files in the log folder of a pod: CONTAINER/START.log, and those that were rotated.
func startLogs(dir string) []startLog {
	var files []startLog
	containers, _ := os.ReadDir(dir) //nolint:errcheck // Where there is no folder, nothing was printed.
	for _, c := range containers {
		entries, _ := os.ReadDir(filepath.Join(dir, c.Name())) //nolint:errcheck // As above, or c is a file, such as kept.json.
		for _, e := range entries {
			number, _, _ := strings.Cut(e.Name(), ".log")
			start, err := strconv.Atoi(number)
			info, gone := e.Info()
			if err != nil || gone != nil {
				continue
			}
			files = append(files, startLog{c.Name(), start, filepath.Join(dir, c.Name(), e.Name()), (info.Size() + block - 1) / block * block, info.ModTime()})
		}
	}
	return files
}
