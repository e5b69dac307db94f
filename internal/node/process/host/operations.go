package host

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/node/runtime"
)

func (h *Host) stop(id runtime.ID, grace time.Duration) error {
	h.mu.Lock()
	e := h.entries[id]
	h.mu.Unlock()
	if e == nil {
		return nil
	}
	return e.stop(grace)
}

func (h *Host) list() []runtime.Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]runtime.Status, 0, len(h.entries))
	for _, e := range h.entries {
		all = append(all, e.current())
	}
	return all
}

// forget drops attempts that have ended, and ignores those that run.
func (h *Host) forget(ids []runtime.ID) error {
	var dropped []runtime.ID
	h.mu.Lock()
	for _, id := range ids {
		if e := h.entries[id]; e != nil && e.isEnded() {
			delete(h.entries, id)
			dropped = append(dropped, id)
		}
	}
	h.mu.Unlock()
	if len(dropped) == 0 {
		return nil
	}
	return h.journal.forget(dropped)
}

// removePod kills what is left of a pod and waits until it is gone.
func (h *Host) removePod(ctx context.Context, uid types.UID, dir string) error {
	h.mu.Lock()
	var left []*entry
	for id, e := range h.entries {
		if id.PodUID == uid && !e.isEnded() {
			left = append(left, e)
		}
	}
	h.mu.Unlock()
	for _, e := range left {
		if err := e.stop(0); err != nil {
			return err
		}
	}
	for _, e := range left {
		<-e.ended
	}
	if err := h.sandbox.RemovePod(uid); err != nil || dir == "" {
		return err
	}
	return h.removeVolume(ctx, dir)
}

// removeVolume removes files whose owners are users of this user namespace only. The control plane can remove the others.
func (h *Host) removeVolume(ctx context.Context, path string) error {
	if h.config.Outside == nil {
		return nil
	}
	parent, err := beneath.Open(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer parent.Close()
	return parent.Remove(ctx, filepath.Base(path))
}

// updateIdleTimer starts the idle timer when there are neither containers nor control planes, and stops it otherwise. The
// caller holds h.mu.
func (h *Host) updateIdleTimer() {
	switch {
	case h.busy() && h.idle != nil:
		h.idle.Stop()
		h.idle = nil
	case !h.busy() && h.idle == nil && !h.closing:
		stay := h.config.IdleExit
		if !h.hadControlPlane {
			// The control plane that has started this host may take that long to connect.
			stay = h.config.StartTimeout
		}
		h.idle = time.AfterFunc(stay, h.endIfIdle)
	}
}

// busy reports whether there are containers or control planes. The caller holds h.mu.
func (h *Host) busy() bool { return h.live > 0 || len(h.sessions) > 0 }

func (h *Host) endIfIdle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.busy() {
		h.end()
	}
}

// end makes the host end; from now on no container can be started. The caller holds h.mu.
func (h *Host) end() {
	if !h.closing {
		h.closing = true
		close(h.done)
	}
}
