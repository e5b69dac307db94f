package store

import (
	"context"
	"strconv"
)

// GetCurrentResourceVersion implements storage.Interface for the watch cache, which calls it for a list of everything that is
// stored by now, and then waits until it has all events up to this version. If the last ones are of other kinds, only a progress
// notification of etcd shows that there are none of this kind. The library requests one every 100 ms, which every such list would
// wait for, so the first is requested here.
func (f *feed) GetCurrentResourceVersion(ctx context.Context) (uint64, error) {
	current, err := f.Interface.GetCurrentResourceVersion(ctx)
	if err == nil && f.lacks(current) {
		// The library repeats a request that fails.
		_ = f.RequestWatchProgress(ctx)
	}
	return current, err
}

// lacks reports, once for each version, whether the last event is not that of this version.
func (f *feed) lacks(version uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.requested == version || f.version == strconv.FormatUint(version, 10) {
		return false
	}
	f.requested = version
	return true
}
