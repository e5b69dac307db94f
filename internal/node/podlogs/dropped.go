package podlogs

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stint-dev/stint/internal/datadir"
)

// droppedName is the file with the time up to which the logs of terminated pods were removed, as there were too many. A
// pod that terminated later and has no folder has printed nothing.
const droppedName = "dropped"

// noLogsRetained is in that file while no logs of deleted pods are retained.
var noLogsRetained = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// readDropped returns the time in the file; zero if no logs were removed.
func readDropped(dir string) time.Time {
	text, err := datadir.ReadFile(filepath.Join(dir, droppedName))
	if err != nil {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text)))
	if err != nil {
		return time.Time{}
	}
	return t
}

func writeDropped(dir string, t time.Time) error {
	text := []byte(t.UTC().Format(time.RFC3339) + "\n")
	err := replace(filepath.Join(dir, droppedName), text)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return replace(filepath.Join(dir, droppedName), text)
}

// recordLimit updates the file if a limit of 0 was set or lifted since the last run.
func (r *Retention) recordLimit() {
	if r.Cordoned {
		return
	}
	r.dropped = readDropped(r.dir)
	switch {
	case r.Limit == 0 && !r.dropped.Equal(noLogsRetained):
		r.dropUntil(noLogsRetained)
	case r.Limit > 0 && r.dropped.Equal(noLogsRetained):
		r.dropUntil(now())
	}
}

func (r *Retention) dropUntil(t time.Time) {
	r.dropped = t
	if err := writeDropped(r.dir, t); err != nil {
		slog.Warn("store that logs were removed", "error", err)
	}
}
