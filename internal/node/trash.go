package node

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/beneath"
)

// logsLinger is how long the logs of a deleted pod stay for whoever was about to read its last lines.
const logsLinger = 10 * time.Second

// rubbish is a folder to remove, at a time.
type rubbish struct {
	// of is podsDir or logsDir, folder an entry of it.
	of, folder string
	at         time.Time
}

// sweepTrash removes folders, aside from everything else: a pod may leave many files. When the node stops nothing
// lingers; what takes too long to remove is found at the next start.
func (n *Node) sweepTrash(ctx context.Context) {
	leaving, cancel := context.WithCancel(context.Background())
	defer cancel()
	context.AfterFunc(ctx, func() { time.AfterFunc(n.times.leaveWithin, cancel) })
	for {
		r, down := n.trash.Get()
		if down {
			return
		}
		if lingers := time.Until(r.at); lingers > 0 {
			select {
			case <-time.After(lingers):
			case <-ctx.Done():
			}
		}
		if r.of == podsDir && leaving.Err() == nil {
			// A pod of a time when the node did not see to it; what the runtime cannot do, is tried below.
			_ = n.Runtime.RemovePod(leaving, types.UID(r.folder), filepath.Join(n.Dir, podsDir, r.folder))
		}
		if leaving.Err() == nil {
			if err := n.removeFolder(r.of, r.folder); err != nil {
				slog.Warn("remove what a pod left", "error", err)
			}
		}
		n.trash.Done(r)
	}
}

// removeFolder removes an entry of podsDir or logsDir.
func (n *Node) removeFolder(of, folder string) error {
	dir, err := beneath.Open(filepath.Join(n.Dir, of))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Remove(folder)
}
