package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// A watch reads from the database what a key was before. Reading it once it is closed ends the whole program; that has been
// seen once, in a server that stopped on a busy machine.
func TestCloseWaitsForWatchesThatRead(t *testing.T) {
	for range 15 {
		s := open(t, t.TempDir())
		c := s.Client()
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range c.Watch(ctx, "/k", clientv3.WithPrefix(), clientv3.WithPrevKV()) {
				}
			})
		}
		for n := range 200 {
			if _, err := c.Put(t.Context(), fmt.Sprintf("/k%d", n%3), fmt.Sprint(n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		stop()
		all.Wait()
	}
}
