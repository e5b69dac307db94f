package store

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// stalledSteps is after how many steps a watch that has given no answer is opened again. There is a step each second while the
// process runs, so one that was stopped for a while has lost none.
const stalledSteps = 10

// following decides whether a watch follows the store. A watch that is behind is asked how far it is, and answers in its order: if it
// does not move at all, it never will.
type following struct {
	// at is where the watch was at the last step, still is for how many steps it has been there although there was more.
	at    uint64
	still int
}

// step decides what is to be done with a watch that is at one revision while the store is at another.
func (f *following) step(at, store uint64) (ask, reopen bool) {
	if at != f.at || at >= store {
		f.at, f.still = at, 0
		return false, false
	}
	f.still++
	return true, f.still%stalledSteps == 0
}

func (f *following) stalled() bool { return f.still >= stalledSteps }

// feeds are the open feeds of all watch caches.
type feeds struct {
	mu   sync.Mutex
	open []*feed
}

func (f *feeds) add(one *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = append(f.open, one)
}

func (f *feeds) remove(one *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = slices.DeleteFunc(f.open, func(o *feed) bool { return o == one })
}

func (f *feeds) all() []*feed {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.open)
}

// step sees to it that all follow the store, which is at a revision.
func (f *feeds) step(ctx context.Context, revision int64) {
	for _, one := range f.all() {
		one.follow(ctx, uint64(revision))
	}
}

// stalled returns an error that names the kinds whose caches do not follow the store, or nil.
func (f *feeds) stalled() error {
	var kinds []string
	for _, one := range f.all() {
		if one.isStalled() {
			kinds = append(kinds, one.kind)
		}
	}
	if len(kinds) == 0 {
		return nil
	}
	return fmt.Errorf("no changes of %s have come from the store for %d s or more; they are asked for again", strings.Join(kinds, ", "), stalledSteps)
}

// follow opens the watch again if it has stalled. A feed that has had no event
// yet is left alone: the server does not start before its cache is filled.
func (f *feed) follow(ctx context.Context, revision uint64) {
	f.mu.Lock()
	stop := f.stop
	ask, reopen := false, false
	if at := parsedVersion(f.version); at > 0 && stop != nil {
		ask, reopen = f.following.step(at, revision)
	}
	f.mu.Unlock()
	if ask {
		_ = f.RequestWatchProgress(ctx) // The next step asks again.
	}
	if reopen {
		slog.Warn(fmt.Sprintf("no changes of %s have come from the store for %d s; its watch is opened again", f.kind, stalledSteps))
		stop()
	}
}

func (f *feed) isStalled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.following.stalled()
}
