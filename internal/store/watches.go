package store

import (
	"context"
	"sync"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy/adapter"
	"google.golang.org/grpc"
)

// watches counts the watch streams that are being served. etcd does not wait for those of an in-memory client, and a
// stream that reads from the database after it is closed ends the program.
type watches struct {
	etcdserverpb.WatchServer
	serving sync.WaitGroup
}

func newWatches(server *etcdserver.EtcdServer) *watches {
	return &watches{WatchServer: v3rpc.NewWatchServer(server)}
}

// Watch serves one stream of watches until it ends. counting.Watch has counted it.
func (w *watches) Watch(stream etcdserverpb.Watch_WatchServer) error {
	defer w.serving.Done()
	return w.WatchServer.Watch(stream)
}

// watcher returns the client side of the counted streams.
func (w *watches) watcher(c *clientv3.Client) clientv3.Watcher {
	return watcher{clientv3.NewWatchFromWatchClient(w.client(), c)}
}

func (w *watches) client() etcdserverpb.WatchClient {
	return countingClient{adapter.WatchServerToWatchClient(w), w}
}

// countingClient counts a stream before it is opened, so that wait misses no stream that is just being opened.
type countingClient struct {
	etcdserverpb.WatchClient
	all *watches
}

// Watch opens a stream. The adapter serves it by a call of watches.Watch.
func (c countingClient) Watch(ctx context.Context, options ...grpc.CallOption) (etcdserverpb.Watch_WatchClient, error) {
	c.all.serving.Add(1)
	return c.WatchClient.Watch(ctx, options...)
}

// wait waits for the streams to end. Their client must have been closed.
func (w *watches) wait() { w.serving.Wait() }

// watcher hides the values of contexts from etcd. etcd uses the text of a context as the key of its stream, and reading
// the values for that text would race with goroutines that change them.
type watcher struct{ clientv3.Watcher }

// Watch implements clientv3.Watcher.
func (w watcher) Watch(ctx context.Context, key string, options ...clientv3.OpOption) clientv3.WatchChan {
	return w.Watcher.Watch(plain{ctx}, key, options...)
}

type plain struct{ context.Context }

func (plain) String() string { return "context" }
