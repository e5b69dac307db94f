package podlogs

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// restoreLog decides about a folder whose owner is not known yet.
func (r *Retention) restoreLog(ctx context.Context, folder string) {
	owner, err := readOwner(filepath.Join(r.dir, folder))
	if err != nil {
		// The pod was deleted while no node ran, or the node died before it could write the owner.
		owner = r.guessJob(folder)
	}
	r.retainOrRemove(ctx, folder, owner, time.Time{})
}

// retainOrRemove retains a folder if its Job exists, and otherwise removes it at a time.
func (r *Retention) retainOrRemove(ctx context.Context, folder string, owner logOwner, dropAt time.Time) {
	if !r.jobExists(ctx, folder, owner) {
		r.removals.Add(folder, dropAt)
		return
	}
	size, err := measure(filepath.Join(r.dir, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return // The pod has printed nothing.
	}
	if err == nil {
		err = writeOwner(filepath.Join(r.dir, folder), owner)
	}
	if err != nil {
		slog.Warn("retain the log of a deleted pod", "folder", folder, "error", err)
	}
	r.retained.add(&retainedLog{folder: folder, owner: owner, bytes: size, dropAfter: dropAt})
	r.trim()
}

func (r *Retention) jobDeleted(uid types.UID) {
	for l := range r.retained.ofJob[uid] {
		r.retained.remove(l)
		r.removals.Add(l.folder, l.dropAfter)
	}
}
