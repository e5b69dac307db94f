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

// restoreLog decides on a folder that was found.
func (k *Keeper) restoreLog(ctx context.Context, folder string) {
	m, err := readMark(filepath.Join(k.dir, folder))
	if err != nil {
		// Its pod went while no node ran, or the node died before it could say so.
		m = k.guessJob(folder)
	}
	k.settle(ctx, folder, m, time.Time{})
}

// settle keeps a folder, or drops it at a time.
func (k *Keeper) settle(ctx context.Context, folder string, m mark, dropAt time.Time) {
	if !k.jobExists(ctx, folder, m) {
		k.trash.Add(folder, dropAt)
		return
	}
	size, err := measure(filepath.Join(k.dir, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return // It printed nothing.
	}
	if err == nil {
		err = writeMark(filepath.Join(k.dir, folder), m)
	}
	if err != nil {
		slog.Warn("keep the log of a deleted pod", "folder", folder, "error", err)
	}
	k.kept.add(&retainedLog{folder: folder, mark: m, bytes: size, dropAfter: dropAt})
	k.trim()
}

func (k *Keeper) jobGone(uid types.UID) {
	for l := range k.kept.ofJob[uid] {
		k.kept.remove(l)
		k.trash.Add(l.folder, time.Time{})
	}
}
