package node

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestAlarms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		type ring struct {
			UID   types.UID
			After time.Duration
		}
		var rings []ring
		a := newAlarms(func(uid types.UID) { rings = append(rings, ring{uid, time.Since(start)}) })
		ctx, cancel := context.WithCancel(t.Context())
		go a.run(ctx)
		synctest.Wait()
		a.set("late", start.Add(time.Hour))
		a.set("moved", start.Add(time.Minute))
		a.set("cleared", start.Add(time.Second))
		a.set("soon", start.Add(2*time.Second))
		a.set("moved", start.Add(3*time.Second))
		a.set("cleared", time.Time{})
		a.set("past", start.Add(-time.Second))
		time.Sleep(2 * time.Hour)
		cancel()
		synctest.Wait()
		want := []ring{{"past", 0}, {"soon", 2 * time.Second}, {"moved", 3 * time.Second}, {"late", time.Hour}}
		if diff := cmp.Diff(want, rings); diff != "" {
			t.Errorf("rings (-want +got):\n%s", diff)
		}
	})
}
