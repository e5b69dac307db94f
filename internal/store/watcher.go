package store

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

// watcher makes the watches of one reader, such as a watch cache. Each has a stream of its own, so that none waits for the reader of
// another. etcd's client has one stream for all watches, and goroutines on both sides of it that wait for each other: many that
// began and ended at once stopped it for good.
type watcher struct {
	kv      mvcc.WatchableKV
	readers *readers
	// everything is whether the reader takes every object. Then it needs the previous value only of what was deleted.
	everything bool
	// progress has an element when the reader has asked how far its watch is.
	progress chan struct{}
}

var _ clientv3.Watcher = (*watcher)(nil)

func newWatcher(kv mvcc.WatchableKV, r *readers, everything bool) *watcher {
	return &watcher{kv, r, everything, make(chan struct{}, 1)}
}

// RequestProgress implements clientv3.Watcher. A reader that asks has one watch at a time.
func (w *watcher) RequestProgress(context.Context) error {
	select {
	case w.progress <- struct{}{}:
	default:
	}
	return nil
}

// Close implements clientv3.Watcher. Watches end with their contexts, and with the store.
func (*watcher) Close() error { return nil }

// Watch implements clientv3.Watcher.
func (w *watcher) Watch(ctx context.Context, key string, options ...clientv3.OpOption) clientv3.WatchChan {
	responses := make(chan clientv3.WatchResponse)
	go func() {
		defer close(responses)
		_ = w.readers.read(ctx, func(ctx context.Context) error {
			w.serve(ctx, clientv3.OpWatch(key, options...), responses)
			return nil
		})
	}()
	return responses
}

func (w *watcher) serve(ctx context.Context, op clientv3.Op, responses chan<- clientv3.WatchResponse) {
	stream := w.kv.NewWatchStream()
	defer stream.Close()
	send := func(r clientv3.WatchResponse) bool {
		select {
		case responses <- r:
			return !r.Canceled
		case <-ctx.Done():
			return false
		}
	}
	id, err := stream.Watch(ctx, clientv3.AutoWatchID, op.KeyBytes(), op.RangeBytes(), op.Rev())
	if err != nil {
		send(clientv3.WatchResponse{Canceled: true, CancelReason: err.Error()})
		return
	}
	var asked <-chan struct{}
	if op.IsProgressNotify() {
		asked = w.progress
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-asked:
			stream.RequestProgress(id)
		case r := <-stream.Chan():
			if !send(w.response(ctx, r)) {
				return
			}
		}
	}
}

func (w *watcher) response(ctx context.Context, r mvcc.WatchResponse) clientv3.WatchResponse {
	response := clientv3.WatchResponse{
		Header:          &etcdserverpb.ResponseHeader{Revision: r.Revision},
		CompactRevision: r.CompactRevision,
		Canceled:        r.CompactRevision != 0,
		Events:          make([]*clientv3.Event, 0, len(r.Events)),
	}
	for _, e := range r.Events {
		previous, err := w.previous(ctx, e)
		if errors.Is(err, mvcc.ErrCompacted) {
			return clientv3.WatchResponse{CompactRevision: e.Kv.ModRevision, Canceled: true}
		}
		if err != nil {
			return clientv3.WatchResponse{Canceled: true, CancelReason: err.Error()}
		}
		// Streams share the events.
		response.Events = append(response.Events, &clientv3.Event{Type: e.Type, Kv: e.Kv, PrevKv: previous})
	}
	return response
}

// previous returns the value that an event has replaced or deleted, nil if there was none, and an empty one where the reader does
// not need it.
func (w *watcher) previous(ctx context.Context, e *mvccpb.Event) (*mvccpb.KeyValue, error) {
	switch {
	case e.Type == mvccpb.Event_PUT && e.Kv.CreateRevision == e.Kv.ModRevision:
		return nil, nil
	case e.Type == mvccpb.Event_PUT && w.everything:
		return &mvccpb.KeyValue{}, nil
	}
	return valueAt(ctx, w.kv, e.Kv.Key, e.Kv.ModRevision-1)
}

// valueAt returns the value that a key had at a revision, nil if it had none.
func valueAt(ctx context.Context, kv mvcc.ReadView, key []byte, revision int64) (*mvccpb.KeyValue, error) {
	found, err := kv.Range(ctx, key, nil, mvcc.RangeOptions{Rev: revision})
	if err != nil || len(found.KVs) == 0 {
		return nil, err
	}
	return found.KVs[0], nil
}
