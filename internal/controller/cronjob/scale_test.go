package cronjob_test

import (
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/stint-dev/stint/internal/controller/cronjob"
	"github.com/stint-dev/stint/test/await"
)

// For example: go test -run AllThatAreDue -cronjobs 10000 -v
var (
	many  = flag.Int("cronjobs", 1000, "how many CronJobs are due at once")
	syncs = flag.Int("syncs", 16, "how many are worked on at the same time")
)

func TestAllThatAreDueAtOnceStart(t *testing.T) {
	e := start(t, cronjob.Options{})
	e.stop()
	n := *many
	if testing.Short() {
		n = min(n, 200) // The race detector makes them slow.
	}
	const writers = 64
	schedule := halfAnHourAgo()
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := w; i < n; i += writers {
				e.missed(fmt.Sprintf("c-%d", i), schedule)
			}
		})
	}
	all.Wait()
	begin := time.Now()
	e.run(cronjob.Options{ConcurrentSyncs: *syncs})
	informer := e.client.CronJobs().Informer()
	await.Until(e.t, "all to start", func() bool {
		shown := informer.GetStore().List()
		for _, obj := range shown {
			if len(obj.(*batchv1.CronJob).Status.Active) != 1 {
				return false
			}
		}
		return len(shown) == n
	}, func() string { return "" })
	t.Logf("%d started within %v", n, time.Since(begin))
	if made := len(e.jobs()); made != n {
		t.Errorf("%d Jobs, want %d", made, n)
	}
}
