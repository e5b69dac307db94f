package store

import (
	"context"
	"testing"
	"testing/synctest"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
)

// reading is a fake etcd whose watch still reads from the database after its client has left. The real etcd does so only
// for a moment, on a busy machine.
type reading struct {
	etcdserverpb.UnimplementedWatchServer
	done chan struct{}
}

func (r reading) Watch(etcdserverpb.Watch_WatchServer) error {
	<-r.done
	return nil
}

func TestWatchesAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := reading{done: make(chan struct{})}
		w := &watches{WatchServer: server}
		ctx, leave := context.WithCancel(context.Background())
		if _, err := w.client().Watch(ctx); err != nil {
			t.Fatal(err)
		}
		leave()
		waited := make(chan struct{})
		go func() {
			w.wait()
			close(waited)
		}()
		synctest.Wait()
		select {
		case <-waited:
			t.Error("the database would be closed while a watch reads from it")
		default:
		}
		close(server.done)
		<-waited
	})
}
