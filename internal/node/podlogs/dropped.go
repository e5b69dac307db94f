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

// The file dropped tells up to which end of pods logs were dropped because they were too many. Of a pod that ended later
// and has no folder one can say that it printed nothing.
const droppedName = "dropped"

// noLogsRetained stands there while a node keeps no logs of deleted pods.
var noLogsRetained = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// readDropped is zero where nothing was dropped.
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

// recordLimit notes whether logs are kept from now on. See dropped.
func (r *Retention) recordLimit() {
	if r.Frozen {
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
		slog.Warn("note that logs were dropped", "error", err)
	}
}
